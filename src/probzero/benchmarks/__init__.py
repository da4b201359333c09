"""Speed, measured in one run on one machine and given as ratios."""
