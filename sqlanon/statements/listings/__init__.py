"""Listings of the catalog."""
