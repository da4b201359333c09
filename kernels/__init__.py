"""The two hot operations of the search: each with a plain torch reference, a Triton kernel and one entry point."""

from __future__ import annotations

from probzero.kernels.backup import BackupTree, backup
from probzero.kernels.winner_prob import winner_prob

__all__ = ["BackupTree", "backup", "winner_prob"]
