"""Where exports go: files, and tables of other databases."""
