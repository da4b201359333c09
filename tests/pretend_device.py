"""A device for machines that have none: its tensors lie in the processor's memory, but do not mix with others.

torch lets Python implement a device under a key that it keeps for private use. Each operation is done by the processor,
after the check that a real device makes: operands with dimensions lie all on this device, or all are copied from one to
another. So code that hands a search, a network or an optimiser tensors of the wrong place fails here as on a GPU. It
also counts what a GPU would launch, and how often the host would wait for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend


class Module(_DummyBackendModule):
    """What `torch.cuda` is for CUDA."""

    def synchronize(self, device: Any = None) -> None:
        told("synchronize", waits=True)

    def get_device_name(self, device: Any) -> str:
        return "a pretended card"

    def get_device_properties(self, device: Any) -> Any:
        return SimpleNamespace(total_memory=2**34)

    def reset_peak_memory_stats(self) -> None:
        """There is no such memory."""

    def max_memory_allocated(self) -> int:
        return 2**30


class Event:
    """A mark in the order of the device's work; here all of it is done at once."""

    def __init__(self, enable_timing: bool) -> None:
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        told("Event.synchronize", waits=True)

    def elapsed_time(self, ended: Event) -> float:
        return 1000 * (ended.at - self.at)


Module.Event = Event  # type: ignore[attr-defined]


@dataclass
class Count:
    """What was asked of the device since the counting began."""

    launches: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)


COUNTS: list[Count] = []  # those that go on


@contextmanager
def counting() -> Iterator[Count]:
    """Count what is launched on the device, and for what the host waits until all of it is done."""
    COUNTS.append(Count())
    try:
        yield COUNTS[-1]
    finally:
        COUNTS.pop()


def told(name: str, waits: bool = False) -> None:
    """Hear that something was launched, or that the host waits."""
    for count in COUNTS:
        (count.waits if waits else count.launches)[name] += 1


MEMORY = {"aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::resize_", "aten::set_"}
# Their results are as long as numbers on the device say, so the host has to ask for these.
ASKING = {
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::bincount", "aten::equal",
    "aten::_unique2", "aten::unique_consecutive", "aten::unique_dim", "aten::is_nonzero",
}  # fmt: skip


def overheard(function: Any, name: str, args: Any, kwargs: Any) -> None:
    """Count an operation of torch's."""
    if function.is_view or name in MEMORY or not COUNTS:
        return
    masks = name in ("aten::index", "aten::index_put_", "aten::index_put", "aten::_index_put_impl_") and any(
        index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1]
    )
    unknown_length = name == "aten::repeat_interleave" and kwargs.get("output_size") is None
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    across = (
        len({isinstance(x, Elsewhere) for x in tensors}) > 1
        if name in COPIES
        else name == "aten::_to_copy" and kwargs.get("device") not in (None, args[0].device)
    )
    told(name, waits=name in ASKING or masks or unknown_length or across)


_setup_privateuseone_for_python_backend("pretend", Module())
DEVICE = torch.device("pretend", 0)
COPIES = ("aten::copy_", "aten::_copy_from")


class Elsewhere(torch.Tensor):
    """A tensor of the device; `inner` is where it really is."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Elsewhere:
        place = {"strides": inner.stride(), "storage_offset": inner.storage_offset(), "device": DEVICE}
        made = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, **place)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return done(function, *args, **(kwargs or {}))

    def __repr__(self) -> str:  # type: ignore[override]
        return f"{DEVICE}: {self.inner!r}"

    def tolist(self) -> Any:
        told("tolist", waits=True)
        return self.inner.tolist()


@torch.inference_mode(False)  # a tensor made in that mode could not be a view of one that was not
def done(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Do an operation in which tensors of the device take part, or which makes some."""
    whole = function.decompose(*args, **kwargs)
    if whole is not NotImplemented:
        return whole
    name, tensors = function._schema.name, [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    mine = {id(x.inner): x for x in tensors if isinstance(x, Elsewhere)}
    if mine and name not in COPIES and any(x.dim() for x in tensors if not isinstance(x, Elsewhere)):
        raise RuntimeError(f"{name}: expected all tensors on the same device, found {DEVICE} and cpu")
    overheard(function, name, args, kwargs)
    inner_args, inner_kwargs = tree_map_only(Elsewhere, lambda x: x.inner, (args, kwargs))
    if kwargs.get("device") is not None:
        inner_kwargs["device"] = "cpu"
    found = function(*inner_args, **inner_kwargs)
    assert all(x.shape == x.inner.shape for x in mine.values()), f"{name}: a tensor that was made longer"
    if name == "aten::_to_copy" and torch.device(kwargs.get("device") or DEVICE).type == "cpu":
        return found
    if name == "aten::copy_":
        return args[0]
    return tree_map_only(torch.Tensor, lambda x: mine[id(x)] if id(x) in mine else Elsewhere(x), found)


def copied(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    told("copy", waits=isinstance(source, Elsewhere) != isinstance(target, Elsewhere))
    source, target_inner = (x.inner if isinstance(x, Elsewhere) else x for x in (source, target))
    target_inner.copy_(source)
    return target


_ANY, _ATEN = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
_ANY.fallback(done, "PrivateUse1")
_ATEN.impl("_copy_from", copied, "PrivateUse1")
# torch.tensor asks for the first in a way that a fallback does not serve; the others make room and then grow it.
for _name in ("empty_strided", "arange", "arange.start", "arange.start_step"):
    _packet, _, _overload = _name.partition(".")
    _function = getattr(getattr(torch.ops.aten, _packet), _overload or "default")
    _ATEN.impl(_name, partial(done, _function), "PrivateUse1")
