"""Statements that make, change and drop policies, and propose one for a table."""
