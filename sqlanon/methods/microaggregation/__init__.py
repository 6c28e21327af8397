"""METHOD microaggregation: numbers as the means of groups of at least k rows near each other."""
