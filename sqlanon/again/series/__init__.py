"""Computes what the releases of a series tell together, from the ledger of the classes that each respondent was in."""
