"""What a release gives away and what it loses: figures of its classes, its columns and its populations."""
