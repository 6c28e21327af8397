"""Statements: one class in one file each, found by `registry`, read by `parser`, and run by `run` behind its guards."""
