"""Where people and other programs meet a network: leaves that import the core and that nothing but commands imports."""
