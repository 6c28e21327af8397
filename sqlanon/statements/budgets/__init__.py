"""Budgets of answers with noise: made, described and dropped, and the answers that are asked under them."""
