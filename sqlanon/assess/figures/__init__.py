"""Figures of a release: what its classes, columns and populations give away and lose."""
