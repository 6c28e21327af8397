"""Profiles the columns of a table: finds the identifying columns, and proposes a first policy."""
