"""What a policy's roles may have overlooked, seen in the source and in the classes. Never a verdict."""
