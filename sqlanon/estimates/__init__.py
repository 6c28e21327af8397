"""Estimates the answers of queries on a source from its release, one query at a time or many at once."""
