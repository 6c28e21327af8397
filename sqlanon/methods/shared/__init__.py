"""Modules that several methods use, and that depend on none of the methods."""
