"""Mondrian's recursion: cuts points into regions while both halves of a cut satisfy the requirements."""
