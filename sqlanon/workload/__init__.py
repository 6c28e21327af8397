"""Queries on a source, and what a release says of their answers."""
