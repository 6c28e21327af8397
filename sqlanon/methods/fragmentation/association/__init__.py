"""Loose associations: groups of the rows of fragments, and which of them belong together."""
