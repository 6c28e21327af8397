"""coherence and METHOD itemsets(search => 'suppress'): what is refused, what is left out, files, other statements."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest

import sqlanon
from sqlanon import PolicyError, PrivacyViolation, SqlanonError
from sqlanon.methods.itemsets.suppression import hitting_set, sizes
from sqlanon.sources.column_types import sizes as input_sizes
from tests.oracles.coherence import minimal, moles
from tests.support.database import template

SETUP = """
CREATE TABLE visits AS SELECT * FROM (VALUES
    (1, 'f', ['bread', 'milk'], ['hiv'], 'no'), (2, 'f', ['bread', 'milk'], [], 'no'),
    (3, 'm', ['bread', 'beer'], NULL, 'yes'), (4, 'f', ['milk', 'beer'], ['hiv'], 'no'),
    (5, 'm', ['bread', 'milk', 'beer'], [], 'yes'), (6, 'm', ['beer'], ['flu', 'flu'], NULL)
) AS t(customer, sex, items, diagnoses, smoker);
CREATE HIERARCHY goods AS LEVELS (FROM (VALUES ('bread', 'food'), ('milk', 'food'), ('beer', 'drink')) AS t);
CREATE POLICY shop ON visits (customer ENTITY, items QUASI IDENTIFIER USING goods, diagnoses SENSITIVE)
    REQUIRE coherence(h => 0.5, k => 3, p => 2);
"""
MAKE = "CREATE ANONYMIZED TABLE r AS POLICY {} METHOD itemsets(search => 'suppress')"


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(SETUP) as connection:
        yield connection


def refused(con: sqlanon.Connection, statement: str) -> tuple[str, str]:
    with pytest.raises(SqlanonError) as raised:
        con.execute(statement)
    return raised.value.message, raised.value.hint or ""


def policy(con: sqlanon.Connection, columns: str, requirements: str, source: str = "visits") -> str:
    con.execute(f"CREATE OR REPLACE POLICY p ON {source} ({columns}) REQUIRE {requirements}")
    return MAKE.format("p")


def shown(con: sqlanon.Connection) -> list[list[str]]:
    return sorted(items for (items,) in con.execute("SELECT items FROM r").fetchall())


def test_the_item_of_the_violating_sets_is_in_no_list(con: sqlanon.Connection) -> None:
    """Bread with beer is in two lists, milk with beer, too: without beer no set is in fewer than three."""
    con.execute(MAKE.format("shop"))
    assert shown(con) == [[], ["bread"], ["bread", "milk"], ["bread", "milk"], ["bread", "milk"], ["milk"]]
    assert con.execute("CHECK r").fetchall() == [("main.r", "coherence", "diagnoses", 0.5, 0.5, True)]
    assert con.duckdb.execute("SELECT loss_name, loss FROM anon.release").fetchall() == [("suppressed_share", 1 / 3)]


def test_explain_says_how_many_items_are_left_out_and_names_none(con: sqlanon.Connection) -> None:
    explained = con.execute("EXPLAIN VERBOSE " + MAKE.format("shop").removeprefix("CREATE ")).fetchall()
    assert [row for row in explained if row[0] == "solve"] == [
        ("solve", "items", "2 of 3 items are published, 1 left out of all lists"),
        ("solve", "loss", "suppressed share 0.333333, not proven to be the least"),
        ("solve", "search", "single items: 0 items left out"),
        ("solve", "search", "2 larger sets: 1 item left out"),
    ]


@pytest.mark.parametrize("search", ["apriori", "optimal", "levels"])
def test_searches_for_labels_name_the_one_that_leaves_items_out(con: sqlanon.Connection, search: str) -> None:
    message, hint = refused(con, MAKE.format("shop").replace("suppress", search))
    assert f"METHOD itemsets(search => '{search}') cannot meet coherence(h => 0.5, k => 3, p => 2)" in message
    assert hint == "write METHOD itemsets(search => 'suppress')"


@pytest.mark.parametrize("method", ["generalization", "mondrian", "anatomy(l => 2)"])
def test_other_methods_name_the_one_for_lists(con: sqlanon.Connection, method: str) -> None:
    make = policy(con, "items QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 0.5, k => 2, p => 2)")
    message, hint = refused(con, make.replace("itemsets(search => 'suppress')", method))
    assert "cannot meet coherence(h => 0.5, k => 2, p => 2)" in message
    assert hint == "use METHOD itemsets"


@pytest.mark.parametrize(
    ("columns", "requirement", "said"),
    [
        ("items QUASI IDENTIFIER", "coherence(h => 0.5, k => 2, p => 2)", "there is no sensitive attribute"),
        ("sex QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 0.5, k => 2, p => 2)", "no quasi-identifier has"),
        ("items QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 1.5, k => 2, p => 2)", "outside 0 to 1"),
        ("items QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 0.5, k => 2, p => 9)", "outside 1 to 8"),
        ("items QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 0.5, k => 2)", "lacks its argument 'p'"),
        (
            "items QUASI IDENTIFIER, diagnoses SENSITIVE",
            "coherence(h => 0.5, k => 2, p => 2, on => (items))",
            "is about the items in lists, and takes no columns to be on",
        ),
        (
            "items QUASI IDENTIFIER, diagnoses SENSITIVE, smoker SENSITIVE",
            "coherence(h => 0.5, k => 2, p => 2, jointly => true)",
            "cannot take several attributes jointly",
        ),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(
    con: sqlanon.Connection, columns: str, requirement: str, said: str
) -> None:
    assert said in refused(con, f"CREATE POLICY p ON visits ({columns}) REQUIRE {requirement}")[0]


@pytest.mark.parametrize("kind", ["VARCHAR[2]", "VARCHAR[][]", "MAP(VARCHAR, INTEGER)", "STRUCT(a VARCHAR)[]"])
def test_values_whose_items_would_not_be_counted_are_refused(con: sqlanon.Connection, kind: str) -> None:
    con.execute(f"CREATE TABLE t (items VARCHAR[], secret {kind})")
    message, _ = refused(con, "CHECK t (items) SENSITIVE secret REQUIRE coherence(h => 0.5, k => 2, p => 2)")
    assert f"needs single values or lists of them, and secret holds {kind}" in message


def test_a_share_of_all_lists_is_changed_by_no_suppression(con: sqlanon.Connection) -> None:
    """HIV is in two of six lists whatever is known."""
    columns = "items QUASI IDENTIFIER, diagnoses SENSITIVE"
    message, hint = refused(con, policy(con, columns, "coherence(h => 0.33, k => 1, p => 1)"))
    assert message.startswith("of the 6 lists of all, 2 hold the same item of diagnoses, which violates coherence(")
    assert "require less" in hint
    assert not con.duckdb.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'r'").fetchall()
    con.execute(policy(con, columns, "coherence(h => 0.34, k => 1, p => 1)"))
    assert shown(con) == [["beer"], ["beer"], ["beer", "bread"], ["beer", "bread"], ["bread"], ["bread"]]


def test_a_class_of_too_few_rows_is_refused(con: sqlanon.Connection) -> None:
    con.execute("UPDATE visits SET sex = NULL WHERE customer = 6")
    columns = "sex QUASI IDENTIFIER, items QUASI IDENTIFIER, diagnoses SENSITIVE"
    message, hint = refused(con, policy(con, columns, "coherence(h => 1, k => 2, p => 1)"))
    assert "1 class of the quasi-identifiers beside the list has fewer than 2 rows (1 row in all)" in message
    assert "coarser" in hint
    message, _ = refused(con, policy(con, columns, "km_anonymity(k => 2, m => 1)"))
    assert "1 class of the quasi-identifiers beside the list has fewer than 2 rows (1 row in all)" in message


def test_every_class_of_too_few_rows_is_counted(con: sqlanon.Connection) -> None:
    con.execute("UPDATE visits SET sex = 'sex of ' || customer WHERE customer IN (5, 6)")
    columns = "sex QUASI IDENTIFIER, items QUASI IDENTIFIER, diagnoses SENSITIVE"
    message, _ = refused(con, policy(con, columns, "coherence(h => 1, k => 2, p => 1)"))
    assert "3 classes of the quasi-identifiers beside the list have fewer than 2 rows (3 rows in all)" in message


def test_sets_are_judged_in_the_classes_of_the_other_quasi_identifiers(con: sqlanon.Connection) -> None:
    """Two of three women have HIV: a reader who knows no item learns it."""
    columns = "sex QUASI IDENTIFIER, items QUASI IDENTIFIER, diagnoses SENSITIVE"
    message, _ = refused(con, policy(con, columns, "coherence(h => 0.5, k => 1, p => 1)"))
    assert message.startswith("of the 3 lists of a class, 2 hold the same item of diagnoses")


def test_lists_of_which_no_item_is_left_are_remarked(con: sqlanon.Connection) -> None:
    make = policy(con, "items QUASI IDENTIFIER, diagnoses SENSITIVE", "coherence(h => 0.5, k => 5, p => 1)")
    ((*_, remark),) = con.execute(make).fetchall()
    assert remark.startswith("all items are left out, and the lists say nothing")
    assert shown(con) == [[]] * 6


def test_each_sensitive_column_is_asked_by_itself_unless_one_is_named(con: sqlanon.Connection) -> None:
    columns = "items QUASI IDENTIFIER, diagnoses SENSITIVE, smoker SENSITIVE"
    con.execute(policy(con, columns, "coherence(h => 0.75, k => 1, p => 1), km_anonymity(k => 2, m => 2)"))
    checked = con.execute("CHECK r").fetchall()
    assert [(row[1], row[2], row[5]) for row in checked] == [
        ("coherence", "diagnoses", True),
        ("coherence", "smoker", True),
        ("km_anonymity", None, True),
    ]
    con.execute("DROP ANONYMIZED TABLE r")
    con.execute(policy(con, columns, "coherence(h => 0.75, k => 1, p => 1, attribute => smoker)"))
    assert [row[2] for row in con.execute("CHECK r").fetchall()] == ["smoker"]


def test_rare_sets_are_suppressed_without_a_sensitive_column(con: sqlanon.Connection) -> None:
    """km_anonymity alone: the lists without beer, where labels would have shown food and drink."""
    con.execute(policy(con, "customer ENTITY, items QUASI IDENTIFIER", "km_anonymity(k => 3, m => 2)"))
    assert shown(con) == [[], ["bread"], ["bread", "milk"], ["bread", "milk"], ["bread", "milk"], ["milk"]]


def test_a_table_without_rows_is_published_without_any(con: sqlanon.Connection) -> None:
    con.execute("DELETE FROM visits")
    con.execute(MAKE.format("shop"))
    assert con.execute("CHECK r").fetchall() == [("main.r", "coherence", "diagnoses", 0.5, None, True)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb"])
def test_a_receiver_counts_the_shares_in_the_file(con: sqlanon.Connection, tmp_path: Path, format_: str) -> None:
    con.execute(
        """CREATE TABLE l AS FROM (VALUES
            (['a, b', '[c]', NULL, ''], ['it''s, "x"', NULL]), (['', NULL, 'a, b', '[c]'], ['[x, y]']),
            ([], ['NULL']), (['NULL'], NULL), (['NULL'], [NULL]), (['rare'], [])) AS t(items, secrets)"""
    )
    con.execute(policy(con, "items QUASI IDENTIFIER, secrets SENSITIVE", "coherence(h => 0.5, k => 2, p => 4)", "l"))
    folder = tmp_path / "out"
    con.execute(f"EXPORT r TO '{folder}' (FORMAT {format_})")
    checked = con.execute(f"CHECK '{folder / 'certificate.json'}'").fetchall()
    assert ("r", "coherence", "secrets", 0.5, 0.5, True, "recomputed from the files") in checked
    assert '"question": "suppressed_share"' in (folder / "certificate.json").read_text()


def test_a_changed_release_is_found_out(con: sqlanon.Connection) -> None:
    con.execute(MAKE.format("shop"))
    con.execute("UPDATE r SET diagnoses = ['hiv'] WHERE items = ['bread']")
    assert con.execute("CHECK r").fetchall() == [("main.r", "coherence", "diagnoses", 0.5, 0.5, True)]
    con.execute("UPDATE r SET diagnoses = ['hiv']")
    assert con.execute("CHECK r").fetchall() == [("main.r", "coherence", "diagnoses", 0.5, 1.0, False)]
    con.execute("UPDATE r SET items = NULL")
    with pytest.raises(PrivacyViolation, match="rows of items have no list"):
        con.execute("CHECK r")


def test_what_other_statements_say(con: sqlanon.Connection) -> None:
    view = "CREATE ANONYMIZED VIEW v AS POLICY shop METHOD itemsets(search => 'suppress')"
    assert "a live view cannot search for labels at each query" in refused(con, view)[0]
    message, _ = refused(con, "FRONTIER f ON POLICY shop METHODS (itemsets) MEASURE p_loss, u_loss")
    assert "has a requirement on items in lists" in message
    con.execute(MAKE.format("shop"))
    message, _ = refused(
        con, "ESTIMATE SELECT count(*) AS n FROM visits WHERE list_contains(items, 'milk') FROM RELEASE r"
    )
    assert "labels of the items in lists" in message
    ((*_, highest, _, _, worst),) = con.execute("ATTACK r WITH rules(m => 2)").fetchall()
    assert (highest, worst.split("; ")[0]) == (0.5, "milk -> hiv")


def test_a_policy_of_objects_says_the_same() -> None:
    requirement = sqlanon.Coherence(h=0.5, k=3, p=2, attribute="diagnoses")
    assert requirement.sql() == 'coherence(h => 0.5, k => 3, p => 2, attribute => "diagnoses")'
    assert sqlanon.Itemsets(search="suppress").sql() == "itemsets(search => 'suppress')"


def test_more_sets_than_are_counted_are_refused(con: sqlanon.Connection) -> None:
    """Six lists have 12 items and 7 pairs; each is counted once more for each diagnosis beside it."""
    ask = "CHECK visits (items) SENSITIVE diagnoses REQUIRE coherence(h => 1, k => 1, p => 1)"
    with input_sizes.replaced(most_itemsets=17):
        message, _ = refused(con, ask)
        assert "have 18 sets of up to 1 items, each counted with the sensitive items beside it" in message
        assert refused(con, MAKE.format("shop"))[0].startswith("the lists of items have ")
    with input_sizes.replaced(most_itemsets=18):
        con.execute(ask)
    with sizes.replaced(most_sets=1), pytest.raises(PolicyError, match="2 sets of up to 2 items violate"):
        con.execute(MAKE.format("shop"))
    with sizes.replaced(most_sets=2):
        con.execute(MAKE.format("shop"))


def test_codes_that_hit_sets() -> None:
    """1 hits two sets for 2 and is taken first; 2 and 3 are needed for others, hit those too, and 1 is given back."""
    sets = [np.array([[1, 2], [1, 3], [2, 4], [3, 5]])]
    assert hitting_set(sets, [0, 2, 3, 3, 9, 9]) == [2, 3]
    larger = [np.array([[1, 2], [1, 3], [1, 4], [2, 5]]), np.array([[3, 6, 7], [4, 6, 7]])]
    assert hitting_set(larger, [0, 1, 9, 9, 9, 9, 1, 9]) == [1, 2, 6]
    assert hitting_set([], []) == []
    assert hitting_set([np.empty((0, 2), dtype=np.int64)], [1, 1]) == []


def drawn(seed: int, p: int) -> Iterator[tuple[Fraction, Fraction]]:
    """For drawn tables of 6 to 8 items in 15 to 40 lists the least share to suppress, and that of the greedy search."""
    rng = random.Random(seed)
    while True:
        chances = [0.5 / (1 + item / 5) + 0.15 for item in range(rng.randint(6, 8))]
        rows = [
            (
                None,
                [item for item, chance in enumerate(chances) if rng.random() < chance],
                [secret for secret in "xy" if rng.random() < 0.25],
            )
            for _ in range(rng.randint(15, 40))
        ]
        sets = minimal({part for _, part in moles(rows, Fraction(rng.randint(3, 6), 10), rng.randint(2, 4), p)})
        if sets and frozenset() not in sets:
            counts = [sum(item in listed for _, listed, _ in rows) for item in range(len(chances))]
            costs = [Fraction(count, sum(counts)) for count in counts]
            yield least_cost(sets, costs), greedy_cost(sets, counts) * Fraction(1, sum(counts))


def least_cost(sets: set[frozenset[int]], costs: list[Fraction]) -> Fraction:
    tried = (part for size in range(len(costs) + 1) for part in combinations(range(len(costs)), size))
    return min(sum((costs[i] for i in part), Fraction(0)) for part in tried if all(each & set(part) for each in sets))


def greedy_cost(sets: set[frozenset[int]], counts: list[int]) -> int:
    alone = [item for part in sets if len(part) == 1 for item in part]
    sizes_of_sets = sorted({len(part) for part in sets if len(part) > 1})
    larger = [np.array([sorted(part) for part in sets if len(part) == size]) for size in sizes_of_sets]
    return sum(counts[item] for item in (*alone, *hitting_set(larger, counts)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("p", "optimal", "least", "greedy", "worst"), [(2, 290, 0.3179, 0.3191, 1.24), (3, 275, 0.3973, 0.4018, 1.43)]
)
def test_how_far_the_greedy_search_is_from_the_least_loss(
    p: int, optimal: int, least: float, greedy: float, worst: float
) -> None:
    """The figures of the page: how often it is optimal, the mean losses, and the most times the least loss."""
    costs = list(islice(drawn(7, p), 300))
    assert all(best <= found for best, found in costs)
    assert sum(best == found for best, found in costs) == optimal
    assert float(sum(best for best, _ in costs) / len(costs)) == pytest.approx(least, abs=0.00005)
    assert float(sum(found for _, found in costs) / len(costs)) == pytest.approx(greedy, abs=0.00005)
    assert float(max(found / best for best, found in costs)) == pytest.approx(worst, abs=0.005)
