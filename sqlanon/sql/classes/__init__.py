"""Rows that fall into classes, the relations that requirements read of them, and the guard."""
