"""From sources and conversations to memories, without a language model."""
