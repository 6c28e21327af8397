"""What certificates say of releases of fragments."""

from __future__ import annotations

__all__ = ["PUBLISHED"]

PUBLISHED = (
    "Values are the source's own, so who is in the tables can be told. Which rows of two tables are one row of the "
    "source is not published, but as far as an association of groups says; the operating system drew the order of "
    "each table and the numbers of groups."
)
