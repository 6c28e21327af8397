"""The commands that read a data file: `sqlanon profile` describes it, and `sqlanon anonymize` makes a release of it."""
