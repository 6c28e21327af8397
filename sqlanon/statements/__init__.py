"""Statements: one class in one file each. `registry` finds them, `parser` reads them, and `run` runs them after its
checks.
"""
