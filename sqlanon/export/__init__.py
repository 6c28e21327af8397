"""EXPORT: what leaves the house, as files that hold a snapshot and its certificate and nothing else."""
