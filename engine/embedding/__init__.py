"""Texts become vectors. One protocol, four implementations, chosen by setting and never mixed."""
