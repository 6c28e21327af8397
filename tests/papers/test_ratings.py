"""What six respondents' ratings of four items tell who learns from a slicing of them, to the digit."""

from __future__ import annotations

import pytest

from sqlanon.assess.tasks.ratings import error_of
from tests.oracles.ratings import Table, rmse
from tests.support.ratings import ratings_of

TABLE: Table = (
    (5, 5, 1, None),
    (5, 5, None, 1),
    (4, 4, 2, 2),
    (1, 1, 5, 5),
    (1, None, 5, 5),
    (None, 2, 4, 4),
)


def sliced(*buckets: tuple[int, ...]) -> Table:
    """The first two items of each row beside the last two of the next row of its bucket."""
    return [
        (*TABLE[who][:2], *TABLE[bucket[(number + 1) % len(bucket)]][2:])
        for bucket in buckets
        for number, who in enumerate(bucket)
    ]


@pytest.mark.parametrize(
    ("learned", "expected"),
    [
        (None, 1.679286),
        (TABLE, 0.477582),
        (sliced((0, 1, 2), (3, 4, 5)), 0.481378),
        (sliced((0, 3, 1), (2, 4, 5)), 1.591587),
    ],
    ids=["means", "source", "alike", "unlike"],
)
def test_errors(learned: Table | None, expected: float) -> None:
    """Rank 1, over 20 ratings; the means alone have 141/50 as their mean squared error."""
    known = ratings_of(TABLE)
    assert len(known.values) == 20
    assert rmse(TABLE, learned, 1) == pytest.approx(expected, abs=5e-7)
    assert error_of(known, None if learned is None else ratings_of(learned), 1, 1) == pytest.approx(expected, abs=5e-7)


def test_the_means_alone() -> None:
    error = error_of(ratings_of(TABLE), None, 1, 1)
    assert error is not None
    assert error**2 == pytest.approx(141 / 50)
    assert ratings_of(TABLE).means() == pytest.approx([16 / 5, 17 / 5, 17 / 5, 17 / 5])
