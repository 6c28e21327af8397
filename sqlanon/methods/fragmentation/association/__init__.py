"""Loose associations: groups of the rows of each fragment, and the links between groups of several fragments."""
