"""Scripts that make a release in another warehouse, from the source in that warehouse."""
