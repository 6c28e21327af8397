"""Statements that begin and drop series of releases."""
