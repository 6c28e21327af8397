"""METHOD generalization: one level of its hierarchy for each attribute."""
