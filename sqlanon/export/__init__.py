"""EXPORT: what is given away, as files that hold a snapshot and its certificate and nothing else."""
