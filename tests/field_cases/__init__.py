"""Field cases: behaviour that users missed in other memory engines, run as ordinary tests."""
