"""Triton's interpreter for the tests, several times as fast; import this before anything that imports triton.

At every call of a device function the interpreter patches the language anew, which takes it a millisecond. A launch has
patched `triton.language` already, and what patches of `triton.language.core` do is never undone: one will do.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when triton and the kernels are imported, so before any of that

from typing import Any

import triton.language as tl
from triton.runtime import interpreter

_patched: set[int] = set()
_patch = interpreter._patch_lang


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    named = self.fn.__globals__
    if named.get("tl") is not tl and id(named) not in _patched:
        _patch(self.fn)
        _patched.add(id(named))
    return self.rewrite()(*args, **kwargs)


interpreter.InterpretedFunction.__call__ = _call
