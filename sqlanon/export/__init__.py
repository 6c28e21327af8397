"""EXPORT: writes files that hold a snapshot and its certificate, and nothing else."""
