"""winner_prob: the chance of each child to be the one best move of its parent."""
