"""The user interfaces: Python, the command line, notebooks, dbt and jobs."""
