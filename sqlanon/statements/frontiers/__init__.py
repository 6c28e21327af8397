"""Statements that make and measure candidates of a policy, a frontier, and choose one of them."""
