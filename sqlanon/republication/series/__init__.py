"""Computes what the releases of a series reveal together, from the ledger of each respondent's classes."""
