"""The columns of what statements answer with, and their types."""

from __future__ import annotations

__all__ = [
    "ADVANCED",
    "CHECKED",
    "COUNTED",
    "DONE",
    "EXPLAINED",
    "EXPORTED",
    "FIGURES",
    "FIGURES_OF_RELEASE",
    "MEASURED",
    "REMARKS",
    "REPORT",
    "REQUIRED",
    "WARNING",
]

DONE = (("statement", "VARCHAR"), ("name", "VARCHAR"), ("outcome", "VARCHAR"))
MEASURED = (
    ("attribute", "VARCHAR"),
    ("required", "DOUBLE"),
    ("achieved", "DOUBLE"),
    ("satisfied", "BOOLEAN"),
)
CHECKED = (("release", "VARCHAR"), ("question", "VARCHAR"), *MEASURED)
COUNTED = (
    ("release", "VARCHAR"),
    ("kind", "VARCHAR"),
    ("source_rows", "BIGINT"),
    ("released_rows", "BIGINT"),
    ("suppressed_rows", "BIGINT"),
)
REQUIRED = (("levels", "VARCHAR"), ("requirement", "VARCHAR"), *MEASURED)
WARNING = ("warning", "VARCHAR")
# A line each.
REMARKS = ("remarks", "VARCHAR")
ADVANCED = (
    ("stream", "VARCHAR"),
    ("batch", "BIGINT"),
    ("read_rows", "BIGINT"),
    ("classes", "BIGINT"),
    ("released_rows", "BIGINT"),
    ("reused_rows", "BIGINT"),
    ("withheld_rows", "BIGINT"),
    ("late_rows", "BIGINT"),
    ("vanished_rows", "BIGINT"),
    ("waiting_rows", "BIGINT"),
    ("required", "DOUBLE"),
    ("achieved", "DOUBLE"),
)
EXPLAINED = (("stage", "VARCHAR"), ("item", "VARCHAR"), ("detail", "VARCHAR"))
FIGURES = (("release", "VARCHAR"), ("workload", "VARCHAR"), ("figure", "VARCHAR"), ("value", "DOUBLE"))
FIGURES_OF_RELEASE = (FIGURES[0], FIGURES[2], ("attribute", "VARCHAR"), FIGURES[3])
# Behind those of EXPORTED, where a report was asked for.
REPORT = ("report", "VARCHAR")
EXPORTED = (
    ("release", "VARCHAR"),
    ("format", "VARCHAR"),
    ("path", "VARCHAR"),
    ("rows", "BIGINT"),
    ("certificate", "VARCHAR"),
    WARNING,
)
