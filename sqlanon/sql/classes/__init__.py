"""Rows in classes, the relations of classes that requirements read, and the guard."""
