"""The small parts of SQL: names, expressions, statements, text."""
