"""The ways in: Python, the command line, notebooks, dbt and jobs."""
