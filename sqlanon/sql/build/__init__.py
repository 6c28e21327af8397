"""Builds SQL: names, expressions, statements and text."""
