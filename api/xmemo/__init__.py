"""The XMemo-compatible surface."""
