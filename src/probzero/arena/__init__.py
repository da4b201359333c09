"""Players, matches between them and the ratings that follow."""
