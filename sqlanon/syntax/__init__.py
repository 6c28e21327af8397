"""Reads and writes parts of statements: tokens, a reader whose errors have positions, and the text of each part."""
