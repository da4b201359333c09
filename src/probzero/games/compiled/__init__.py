"""The compiled forms of the games, one template each: see `probzero.games.base` and `probzero.templates`."""
