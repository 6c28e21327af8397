"""A release: the stages that make it, what exists of it, and remarks on it."""
