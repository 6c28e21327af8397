"""Statements that make and drop workloads, and measure releases by workloads, figures and tasks."""
