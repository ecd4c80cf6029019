"""One module for each group of commands; `cli/main.py` assembles them."""
