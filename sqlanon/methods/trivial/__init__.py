"""METHOD trivial: two tables without a link, the baseline of every other method."""
