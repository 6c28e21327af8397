"""Profiles the columns of a table: who can be found by them, and which policy to begin with."""
