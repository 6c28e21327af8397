"""What certificates say of releases of fragments."""

from __future__ import annotations

from sqlanon.domain.reading import Reading

# How the columns of each table are read: those of a fragment, of one with groups, and of the association.
FRAGMENT_TABLES = ((Reading.BUCKET_VALUE,),)
LOOSE_TABLES = ((Reading.BUCKET_VALUE, Reading.GROUP), (Reading.LINK,))

PUBLISHED = (
    "Values are the source's own, so who is in the tables can be told. Which rows of two tables are one row of the "
    "source is not published, but as far as an association of groups says; the operating system drew the order of "
    "each table and the numbers of groups."
)
