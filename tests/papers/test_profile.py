"""PROFILE against Table 1 of Motwani and Xu, Efficient algorithms for masking and finding quasi-identifiers (2007)."""

from __future__ import annotations

import pytest

import sqlanon


def test_quasi_identifiers_of_the_paper() -> None:
    con = sqlanon.connect()
    people = "(20, 'Female', 'CA'), (30, 'Female', 'CA'), (40, 'Female', 'TX'), (20, 'Male', 'NY'), (40, 'Male', 'CA')"
    con.execute(f"CREATE TABLE people AS SELECT * FROM (VALUES {people}) AS t (age, sex, state)")
    figures = {(row[0], row[1]): row[4:6] for row in con.execute("PROFILE people").fetchall()}
    # Age is a 0.6-distinct and 0.8-separation quasi-identifier, {sex, state} a 0.8-distinct and 0.9-separation one.
    assert figures["column", "age"] == pytest.approx((0.6, 0.8))
    assert figures["columns", "sex, state"] == pytest.approx((0.8, 0.9))
