"""Statements, one class a file. `registry` finds them, `parser` reads them, and `run` checks and runs them."""
