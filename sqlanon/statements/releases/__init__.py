"""Releases: made, explained, made anew, dropped, exported and queried."""
