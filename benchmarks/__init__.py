"""Measures sqlanon against plain SQL on the same data, in the same process: `python -m benchmarks`."""
