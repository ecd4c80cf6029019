"""The `memvouch` command: thin commands over the engine, for people and for scripts."""
