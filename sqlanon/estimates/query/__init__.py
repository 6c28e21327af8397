"""A query as its parts, and what of it a release may be asked."""
