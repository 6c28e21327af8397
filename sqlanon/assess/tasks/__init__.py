"""Tasks that are learned from a release and from its source, to show what the release is good for."""
