"""Repeats experiments of papers with sqlanon's methods: one module for each paper, which prints tables."""
