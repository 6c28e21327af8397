"""Frontiers: candidates of a policy, made and measured, and one of them chosen."""
