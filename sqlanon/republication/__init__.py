"""Repeated releases: series of releases, and streams of rows."""
