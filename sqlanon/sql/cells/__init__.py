"""The source as cells: hierarchies as trees, values as codes, and codes packed in keys."""
