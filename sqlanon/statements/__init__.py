"""One file a statement: what it does, and the rows that it answers with."""
