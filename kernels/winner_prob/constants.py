"""The small numbers of winner_prob, which all of its forms share; `reference` says what they are for."""

EPS = 1e-12
RATIO_FLOOR = 1e-200
# Added to every child's raw, so that a row of lost children (every raw 0) comes out uniform. Any other row has a raw
# above 1e-250, beside which it vanishes: a lost child's weight is then exactly 0 in float32.
LOST_RAW = 1e-300
# Divides a row without children, whose raws stay 0.
SUM_FLOOR = 1e-305
