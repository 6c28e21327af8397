"""Answers about releases, exports and tables: guarantees, attacks, figures, estimates and learning tasks."""
