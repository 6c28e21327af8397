"""METHOD slicing: columns of attributes, each permuted within buckets of rows."""
