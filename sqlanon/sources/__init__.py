"""What a policy brings to a release: its source, its columns, and what its requirements read."""
