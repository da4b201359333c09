"""backup: the new policies and values of every touched node of a batch of games, deepest first, in place."""
