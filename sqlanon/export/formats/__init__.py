"""The formats of an export: one module for each, named as in EXPORT ... (FORMAT name)."""
