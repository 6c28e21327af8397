"""Runs each statement, and returns the rows that it answers with."""
