"""Two releases that a reader may join: what is required of the join, the two sides, and what it comes to."""
