"""Reading and writing portable files."""
