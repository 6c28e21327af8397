"""Statements that check releases, exports and tables, and attack releases."""
