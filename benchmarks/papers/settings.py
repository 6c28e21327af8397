"""The compared releases: their requirements, the text of METHOD, and the function that reads them for a learner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.papers import releases

__all__ = ["BUCKETIZATION", "ONE_BUCKET", "ORIGINAL", "SETTINGS", "TIMED", "Setting"]

BUCKETIZATION = "bucketization"


@dataclass(frozen=True)
class Setting:
    """A release by a method, with l-diversity required by its policy, or by the method alone if `matching`.

    Without `read` there is no statement: the learner gets the source's rows.
    """

    name: str
    call: str = ""
    l: int = 0  # noqa: E741 - the paper's name
    variant: str = ""
    read: releases.Reader | None = None
    matching: bool = False

    @property
    def requirement(self) -> str:
        if self.matching:
            return "k_anonymity(k => 2)"
        return f"l_diversity(l => {self.l}, variant => '{self.variant}')"

    @property
    def diversity(self) -> str:
        return f"{self.l}, {self.variant}" if self.l else ""


def _settings(l: int, variant: str, columns: Sequence[int]) -> Iterator[Setting]:  # noqa: E741
    kind = f"l => {l}, variant => '{variant}'"

    def setting(name: str, call: str, read: releases.Reader) -> Setting:
        return Setting(name, call, l, variant, read)

    # Without a limit the search for levels of fourteen attributes takes longer than all else here.
    yield setting("generalization", "generalization(suppression => 0.02, time_limit => 2)", releases.generalization)
    yield setting("Mondrian", "mondrian(bounds => true)", releases.mondrian)
    yield setting(BUCKETIZATION, f"anatomy({kind})", releases.anatomy)
    yield setting("bucketization, near", f"anatomy({kind}, grouping => 'near')", releases.anatomy)
    for number in columns:
        call = f"slicing({kind}, columns => {number}, sensitive_attributes => 2)"
        yield setting(f"slicing, c = {number}", call, releases.slicing)
    if variant == "probabilistic":
        call = f"slicing({kind}, columns => 2, sensitive_attributes => 1)"
        yield setting("slicing, c = 2, occupation alone", call, releases.slicing)
        call = f"slicing({kind}, columns => 2, sensitive_attributes => 2, diversity => 'matching')"
        yield Setting("slicing, c = 2, matching", call, l, variant, releases.slicing, matching=True)


ORIGINAL = Setting("original")
# The result of the paper's algorithm if neither a cut of the whole table nor the table itself satisfies l.
ONE_BUCKET = Setting("slicing, one bucket")
# No occupation has more than 1/l of the rows up to l = 7, and up to l = 3 none has more than 1/l of either sex.
SETTINGS = (
    ORIGINAL,
    ONE_BUCKET,
    *_settings(3, "probabilistic", (2, 3, 5)),
    *_settings(5, "probabilistic", (2, 3, 5)),
    *_settings(8, "probabilistic", (2,)),
    *_settings(10, "probabilistic", (2,)),
    *_settings(5, "distinct", (2, 3, 5)),
    *_settings(8, "distinct", (2,)),
    *_settings(10, "distinct", (2,)),
)
# Without full-domain generalization, whose search a limit ends.
TIMED = tuple(
    setting
    for setting in _settings(5, "probabilistic", (2,))
    if setting.name in ("Mondrian", BUCKETIZATION, "slicing, c = 2")
)
