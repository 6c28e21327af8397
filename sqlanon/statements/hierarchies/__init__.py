"""Hierarchies: made from a definition or from a column, and dropped."""
