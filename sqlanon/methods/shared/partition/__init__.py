"""Mondrian's recursion: points cut into regions, as long as both halves of a cut meet what is required."""
