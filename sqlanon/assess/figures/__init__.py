"""Figures of a release: the disclosure and the loss by its classes, its columns and populations."""
