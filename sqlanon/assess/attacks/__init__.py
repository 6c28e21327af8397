"""What adversaries of the literature learn from a release, a file an attack."""
