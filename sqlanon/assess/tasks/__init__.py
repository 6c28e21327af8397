"""What a release is good for: tasks that are learned from it and from its source."""
