"""How far strict search can be trusted: every figure and picture of `docs/strictness.md`."""
