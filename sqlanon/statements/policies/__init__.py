"""Policies: made, changed and dropped, and proposed for a table."""
