"""The hot operations of the search, a folder each: a plain reference, a Triton kernel and a compiled loop."""
