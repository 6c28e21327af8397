"""Destinations of exports: files, and tables of other databases."""
