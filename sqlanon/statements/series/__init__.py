"""Series of releases: begun and dropped."""
