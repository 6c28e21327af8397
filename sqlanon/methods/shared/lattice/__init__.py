"""The lattice of generalizations, and the search for its node of least loss."""
