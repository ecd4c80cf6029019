"""What agents keep beside memories, over REST: one module per group of endpoints of the contract."""
