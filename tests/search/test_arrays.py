"""Large arrays are zeros that can be written, whatever memory was used before."""

from __future__ import annotations

import numpy as np
import pytest

from probzero.search.arrays import HUGE, LARGE, paged_zeros


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "float64"])
@pytest.mark.parametrize("bytes_", [64, LARGE, 3 * LARGE, HUGE], ids=str)
def test_arrays_are_zero_again_after_others_were_written_and_freed(dtype: str, bytes_: int) -> None:
    rows = bytes_ // (2 * np.dtype(dtype).itemsize)
    for _ in range(3):
        array = paged_zeros(rows, 2, dtype=dtype)
        assert (array.shape, array.dtype) == ((rows, 2), np.dtype(dtype)) and array.flags.c_contiguous
        assert not array.any()
        array.fill(1)
        assert array.all()
        del array


def test_numbers_are_float32_unless_said_otherwise() -> None:
    assert paged_zeros(LARGE).dtype == np.float32
