"""Statements that make, explain, refresh, drop, export and query releases."""
