"""The inputs of a release that its policy names: its source, its columns, and what its requirements read."""
