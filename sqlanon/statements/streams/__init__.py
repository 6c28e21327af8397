"""Statements that begin, advance and drop streams."""
