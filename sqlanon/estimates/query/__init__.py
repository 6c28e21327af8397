"""Splits a query into parts, and checks whether a release can answer each of them."""
