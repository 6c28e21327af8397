"""Queries that are asked of a release and of its source, and how far the answers are apart."""
