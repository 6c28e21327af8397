"""Local recoding: what a node would suppress is recoded further, in rounds."""
