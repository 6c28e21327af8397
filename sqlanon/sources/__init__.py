"""Inputs of a release that its policy names: the source, its columns, and the tables that requirements read."""
