"""A strong solution: the exact value of all positions that can be reached, by layers. A leaf: no core imports it."""
