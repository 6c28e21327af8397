"""Experiments of papers, run again with sqlanon's methods: one module for each paper, which prints tables."""
