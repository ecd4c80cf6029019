"""Frozen values that every room shares. No I/O, no third-party imports."""
