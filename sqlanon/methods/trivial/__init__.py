"""METHOD trivial: two tables without a link, the baseline with which the other methods are compared."""
