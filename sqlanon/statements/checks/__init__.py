"""Statements that check releases, exports, policies and tables, and attack releases."""
