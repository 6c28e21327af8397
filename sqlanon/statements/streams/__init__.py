"""Streams: begun, advanced and dropped."""
