"""Scripts that make a release again in another warehouse, from the source in that warehouse."""
