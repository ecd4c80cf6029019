"""Texts become vectors. One protocol, three implementations, chosen by setting and never mixed."""
