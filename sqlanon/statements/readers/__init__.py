"""Statements that make, change and drop readers, and grant them releases and budgets."""
