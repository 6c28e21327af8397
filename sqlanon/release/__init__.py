"""Releases: the stages that make them, the functions that read existing ones, and remarks on them."""
