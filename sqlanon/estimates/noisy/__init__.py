"""Queries on a source that are answered with noise, under a budget."""
