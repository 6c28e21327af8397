"""What the data of a table say of its columns: who can be found by them, and which policy to begin with."""
