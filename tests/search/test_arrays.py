"""Large arrays are zeros that can be written, whatever memory was used before."""

from __future__ import annotations

import pytest
import torch

from probzero.search.arrays import LARGE, paged_zeros


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.float64])
@pytest.mark.parametrize("bytes_", [64, LARGE, 3 * LARGE], ids=str)
def test_arrays_are_zero_again_after_others_were_written_and_freed(dtype: torch.dtype, bytes_: int) -> None:
    rows = bytes_ // (2 * dtype.itemsize)
    for _ in range(3):
        array = paged_zeros(rows, 2, dtype=dtype)
        assert (array.shape, array.dtype) == ((rows, 2), dtype) and array.is_contiguous()
        assert not array.any()
        array.fill_(1)
        assert array.all()
        del array


def test_numbers_are_float32_unless_said_otherwise() -> None:
    assert paged_zeros(LARGE).dtype == torch.float32
