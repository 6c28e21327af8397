"""The formats of an export, a module each, named as in EXPORT ... (FORMAT name)."""
