"""Runs queries on a release and on its source, and measures the differences of the answers."""
