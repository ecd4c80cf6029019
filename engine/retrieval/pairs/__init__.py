"""A second look at the pool: a model that reads question and passage together."""
