"""What a release says of queries on its source, one query at a time or many at once."""
