"""Existing releases: their rows, their columns, and the sources that they were made from."""
