"""Workloads: made and dropped, and releases measured by them, by figures and by tasks."""
