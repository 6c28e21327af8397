"""Parts of the SELECT of a release that have been computed before its rows are read, as tables that it then joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build.names import alias, column, identifier, relation
from sqlanon.sql.cells.cells import class_id, key_name


@dataclass(frozen=True)
class Precomputed:
    """`labels` has, by the index of a quasi-identifier, the table of its `recode`: value, label, code. `classes` is
    the table of the keys of the classes that may be published; None where these have yet to be found.
    """

    labels: Mapping[int, str]
    classes: str | None = None

    def labels_of(self, index: int) -> exp.Select:
        """The labels of the values of the quasi-identifier at this index, and their numbers."""
        return exp.select(*map(column, ("value", "label", "code"))).from_(relation(self.labels[index]))

    def kept_classes(self, words: int) -> exp.Select | None:
        """kept(class_id): the classes that may be published, whose keys have so many words."""
        if self.classes is None:
            return None
        label = class_id([column(key_name(word)) for word in range(words)])
        return exp.select(alias(label, "class_id")).from_(relation(self.classes))


def key_columns(words: int) -> Sequence[exp.Alias]:
    """The words of a class_id, a column for each: a key of several is a struct, which engines do not pass on."""
    whole = column("class_id")
    if words == 1:
        return [alias(whole, key_name(0))]
    names = map(key_name, range(words))
    return [alias(exp.Dot(this=whole.copy(), expression=identifier(name)), name) for name in names]
