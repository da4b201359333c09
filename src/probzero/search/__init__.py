"""Searches over batches of games: `build` makes one, `graph` is what they search, `backends` how they compute."""
