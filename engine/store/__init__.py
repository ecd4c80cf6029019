"""The SQL truth. Every function takes a `Connection`, so that callers compose one transaction per write."""
