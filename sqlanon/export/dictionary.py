"""The dictionary of an export: what each of its columns is, a row a column, as the certificate has it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from io import StringIO

from sqlanon.domain.identifiers import fold
from sqlanon.domain.reading import Reading
from sqlanon.export.certificate_format import Certificate
from sqlanon.export.formats.base import COMMAS
from sqlanon.export.reading_words import words_of

_HEAD = ("table", "column", "type", "role", "a value is", "hierarchy", "level", "height", "a label means")

# What a label says of the value that it stands for, by the kind of the hierarchy.
_LABELS: Mapping[str, str] = {
    "intervals": "[20,30) is any value from 20 to below 30; * is any value",
    "prefixes": "941** is any value that begins with 941 and is as long; * alone is any value",
    "calendar": "2026-03 is any moment of that month, 2026-W10 of that week, 2026-Q1 of that quarter, 2026 of that "
    "year, 202* of that decade, 20** of that century; * is any moment",
    "levels": "a value of the list that the publisher has made, or a group of these; * is any value",
    "parents": "a node of the tree that the publisher has made: any value below it; * is any value",
}
_ANY_LABEL = "what the publisher has put in the place of the values; * is any value"
_NO_HIERARCHY = "the value, or * for any value"


# What stands in a column besides the values of the source; by its role alone it would be one of these.
_ADDED = {Reading.BUCKET, Reading.COUNT, Reading.COUNTERFEITS, Reading.GROUP, Reading.LINK, Reading.RESPONDENT}


@dataclass(frozen=True)
class ColumnMeaning:
    """What a published column is, in the words of a certificate; what does not apply is empty."""

    table: str
    column: str
    type: str
    role: str
    value: str
    hierarchy: str
    level: str
    height: str
    label: str

    @property
    def sentence(self) -> str:
        """All of it in one line, but the table and the column."""
        level = f"level {self.level} of {self.height}" if self.level and self.height else ""
        hierarchy = f"hierarchy {self.hierarchy}" if self.hierarchy else ""
        parts = (self.value, level, hierarchy, self.label)
        return f"{self.role}: {'; '.join(filter(None, parts))}"


def dictionary(certificate: Certificate) -> str:
    """The text of the file for a certificate: CSV with a header, whose fields are told apart like those of the data."""
    text = StringIO()
    fields = certificate.csv or COMMAS
    writer = csv.writer(text, delimiter=fields.delimiter, quotechar=fields.quote, lineterminator="\n")
    writer.writerow(_HEAD)
    writer.writerows(map(astuple, meanings(certificate)))
    return text.getvalue()


def meanings(certificate: Certificate) -> Iterator[ColumnMeaning]:
    """What each column is by a certificate, table by table."""
    attributes = {fold(a.name): a for a in certificate.policy.attributes}
    hierarchies = {fold(h.name): h for h in certificate.policy.hierarchies}
    words = words_of(certificate)
    for table in certificate.all_tables:
        for column in table.columns:
            attribute = None if column.reading in _ADDED else attributes.get(fold(column.behind))
            is_label = column.reading in (Reading.LABEL, Reading.ITEM_LABELS)
            named = attribute.hierarchy if attribute and is_label else None
            hierarchy = hierarchies.get(fold(named)) if named else None
            label = _LABELS.get(hierarchy.kind, _ANY_LABEL) if hierarchy else _NO_HIERARCHY if is_label else ""
            yield ColumnMeaning(
                table=table.name,
                column=column.name,
                type=column.type,
                role=attribute.role.value.replace("_", " ") if attribute else "added by the method",
                value=words[column.reading],
                hierarchy=named or "",
                level=" or ".join(map(str, column.levels)),
                height=str(hierarchy.height) if hierarchy else "",
                label=label,
            )
