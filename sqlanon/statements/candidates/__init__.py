"""The candidates of a frontier: which there are, what they have in common, and what they are measured by."""
