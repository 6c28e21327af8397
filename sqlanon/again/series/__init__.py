"""What the releases of a series tell together, by the ledger of who was in which class of each."""
