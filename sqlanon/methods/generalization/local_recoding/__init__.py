"""Local recoding: rows that a node would suppress are recoded further, in rounds."""
