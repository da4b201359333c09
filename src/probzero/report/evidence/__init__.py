"""From what every network kept, position by position, to a verdict on each claim (docs/protocol.md)."""
