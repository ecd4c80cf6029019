"""The Crosmos-compatible surface, under `/api/v1`."""
