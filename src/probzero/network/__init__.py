"""The network: its training form, its inference form, and its checkpoints."""
