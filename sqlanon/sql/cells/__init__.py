"""The source as cells: hierarchies as trees, values as codes, codes in keys."""
