"""Statements that list the objects of the catalog, and describe policies and releases."""
