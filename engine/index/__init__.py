"""The derived index: everything in it can be rebuilt from the store."""
