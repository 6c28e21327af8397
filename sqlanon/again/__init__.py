"""Releases that go on: series of releases, and streams of rows."""
