"""The catalog: sqlanon's own tables, in the schema `anon` of the user's database.

Policies, hierarchies, releases and measurements are rows in these tables. Everything runs within the caller's
transaction; a function that reads treats a database without a catalog as an empty catalog, and a function that writes
first makes the catalog.
"""
