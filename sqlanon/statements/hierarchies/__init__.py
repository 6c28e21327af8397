"""Statements that make hierarchies, from a definition or from a column, and drop them."""
