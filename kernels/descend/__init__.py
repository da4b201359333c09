"""descend: the particles of a batch on their way down from the roots of their games to leaves, in place."""
