"""Measures the utility of a release by tasks that are learned from the release and from its source."""
