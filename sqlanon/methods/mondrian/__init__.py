"""METHOD mondrian: multidimensional recoding by regions."""
