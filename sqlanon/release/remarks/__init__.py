"""Remarks on what the roles of a policy may have overlooked, seen in the source and in the classes. Never a verdict."""
