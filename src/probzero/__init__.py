"""ProbZero: an AlphaZero variant that learns from the whole search tree."""

__version__ = "0.1.0"
