"""Exact truth: positions solved to the end, so that strength can be measured against perfect play."""
