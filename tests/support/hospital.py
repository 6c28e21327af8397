"""The hospital table of the papers, and the loose association that one of them prints for it."""

from __future__ import annotations

HOSPITAL = (
    ("1950-06-02", "F", "94141", "H1N1"),
    ("1950-06-20", "M", "94132", "Gastritis"),
    ("1950-06-12", "M", "94137", "Dyspepsia"),
    ("1950-06-05", "F", "94144", "Pneumonia"),
    ("1940-04-01", "M", "94143", "Peptic Ulcer"),
    ("1940-04-02", "M", "94142", "Peptic Ulcer"),
    ("1940-04-10", "F", "94139", "Peptic Ulcer"),
    ("1940-04-20", "F", "94130", "Peptic Ulcer"),
    ("1940-06-07", "M", "94130", "Broken Leg"),
    ("1940-06-05", "M", "94131", "Short Breath"),
    ("1958-12-11", "F", "94142", "Pneumonia"),
    ("1940-06-25", "F", "94142", "Broken Leg"),
    ("1940-06-30", "F", "94145", "Stomach Cancer"),
    ("1950-05-02", "F", "94136", "H1N1"),
    ("1950-05-05", "F", "94134", "Flu"),
    ("1950-05-10", "M", "94147", "Stomach Cancer"),
    ("1950-05-30", "M", "94148", "Gastritis"),
)
# Without the patient of 1958, who stands alone: the 16 rows of the papers on fragments and on loose associations.
OTHERS = tuple(row for row in HOSPITAL if not row[0].startswith("1958"))

# The loose association that is printed for them: the groups of both fragments, and which of them are linked.
LEFT = [int(group) for group in "1 1 2 2 3 5 4 6 3 5 6 4 7 7 8 8".split()]
RIGHT = [int(group) for group in "1 2 2 3 1 3 5 7 4 6 6 4 5 8 7 8".split()]
LINKED = [(int(pair[0]), int(pair[1])) for pair in "11 12 22 23 31 34 45 44 53 56 67 66 75 78 87 88".split()]
