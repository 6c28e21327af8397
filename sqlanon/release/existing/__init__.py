"""Existing releases: their rows, their columns, and their sources."""
