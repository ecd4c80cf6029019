"""The REST host, as real clients meet it: one server process per module or session."""
