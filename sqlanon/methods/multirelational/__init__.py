"""METHOD multirelational: publishes levels for a table of people and tables with rows about them."""
