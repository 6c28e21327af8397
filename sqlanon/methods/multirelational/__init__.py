"""Levels for tables that belong together: a policy on a table of people and tables with rows about them."""
