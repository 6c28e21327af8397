"""Attacks of the literature on a release: one file for each attack."""
