"""What a value of a published column says of a row of the source, in words."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.domain.reading import Reading
from sqlanon.export.certificate_format import Certificate

_OF_ROWS: Mapping[Reading, str] = {
    Reading.EXACT: "the row's own value",
    Reading.LABEL: "the label of the row's value, at a level of its hierarchy; `*` is any value",
    Reading.ITEM_LABELS: "labels of the items in the row's list, each once, in the order of the labels",
    Reading.RANGE: "the range of the values of the row's region",
    Reading.CENTROID: "a value that stands for those of the row's region",
    Reading.LOWER_BOUND: "the least value of the row's region",
    Reading.UPPER_BOUND: "the greatest value of the row's region",
    Reading.TOKEN: "what stands for the value of a pseudonym",
    Reading.BUCKET: "the number of the row's bucket",
    Reading.BUCKET_VALUE: "a value of one row of the bucket, or of any row where there is neither bucket nor group",
    Reading.BUCKET_RANGE: "a range with the value of one row of the bucket",
    Reading.COUNT: "how many rows of the bucket have the value beside it",
    Reading.COUNTERFEITS: "how many values of the bucket are counterfeits, which no row has",
    Reading.GROUP: "the number of the row's group in this table",
    Reading.LINK: "the group that the row has in another table",
    Reading.RESPONDENT: "the number of the person whose row it is, drawn for this release and the same in its tables",
}
# Of a release that has counterfeits, or could have.
_WITH_COUNTERFEITS: Mapping[Reading, str] = {
    Reading.BUCKET: "the number of the bucket",
    Reading.BUCKET_VALUE: "a value of one row of the bucket, or a counterfeit, which no row has",
    Reading.RANGE: "the range of the values that the people of the bucket have",
    Reading.COUNT: "how many rows and counterfeits of the bucket have the value beside it",
}


def words_of(certificate: Certificate) -> Mapping[Reading, str]:
    """The words for each reading of a column, as they are true of the tables of a certificate."""
    columns = [column for table in certificate.tables or () for column in table.columns]
    has_counterfeits = any(column.reading is Reading.COUNTERFEITS for column in columns)
    return {**_OF_ROWS, **_WITH_COUNTERFEITS} if has_counterfeits else _OF_ROWS
