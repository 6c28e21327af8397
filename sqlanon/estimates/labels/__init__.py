"""What lies below the labels of a generalized column."""
