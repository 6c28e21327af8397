"""METHOD trivial: two tables that nothing links, the baseline of every other method."""
