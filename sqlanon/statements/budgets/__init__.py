"""Statements that make, describe and drop budgets, and ask for answers with noise under budgets."""
