"""The values below the labels of a generalized column."""
