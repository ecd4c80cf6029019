"""Tests of the index room: one contract for the reference, Qdrant Edge and a real Qdrant server."""
