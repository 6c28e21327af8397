"""Statements that make, change and drop policies, and propose a policy for a table."""
