"""How a published column is read: what one of its values says of the source."""

from __future__ import annotations

from enum import StrEnum


class Reading(StrEnum):
    """What a value of a published column says of a row of the source.

    It is recorded with every release and in every certificate, so that what checks a release or estimates from it
    asks the columns and not the method that made them.
    """

    EXACT = "exact"
    """The row's own value."""
    LABEL = "label"
    """The label of the row's value at a level of its hierarchy."""
    ITEM_LABELS = "item_labels"
    """A list of labels of the items in the row's list, each once: a label may be an item, or stand for several."""
    RANGE = "range"
    """The range of the values of the row's region."""
    CENTROID = "centroid"
    """A value that stands for those of the row's region."""
    LOWER_BOUND = "lower_bound"
    """The least value of the row's region, in the column whose name it has before its ending."""
    UPPER_BOUND = "upper_bound"
    """The greatest value of the row's region, in the column whose name it has before its ending."""
    TOKEN = "token"
    """What stands for the value of a pseudonym."""
    BUCKET = "bucket"
    """The number of the row's bucket (Xiao and Tao 2006: of its QI-group)."""
    BUCKET_VALUE = "bucket_value"
    """A value of one row of the bucket; of any row of the source, where the table has neither bucket nor group.

    Where a column is of counterfeits, it may be one of these.
    """
    BUCKET_RANGE = "bucket_range"
    """A range that has the value of one row of the bucket, and those of rows of other buckets."""
    COUNT = "count"
    """How many rows of the bucket have the value beside it, and counterfeits, where a column is of these."""
    COUNTERFEITS = "counterfeits"
    """How many values of the bucket are counterfeits, which no row of the source has (Xiao and Tao 2007)."""
    GROUP = "group"
    """The number of the row's group within its table (De Capitani di Vimercati et al. 2010)."""
    LINK = "link"
    """The group that the row has in another table: the first such column is of the first table with groups."""
    RESPONDENT = "respondent"
    """The number of the respondent whose row it is, drawn for the release, and the same in all its tables."""
