"""METHOD itemsets and km_anonymity: what is read as an item, what is refused, files, and what other statements say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

import sqlanon
from sqlanon import DataError, PolicyError, PrivacyViolation, SqlanonError
from sqlanon.clients.session import StatementEvent
from sqlanon.methods.itemsets.cut_search import number_of_cuts, sizes
from sqlanon.methods.itemsets.lists import LeafRow, item_tree
from sqlanon.sources.column_types import sizes as input_sizes
from tests.support.database import template
from tests.support.reports import page_of

SETUP = """
CREATE TABLE purchases AS SELECT * FROM (VALUES
    (1, 'f', 'x', ['a1', 'b1', 'b2']), (2, 'f', 'y', ['a2', 'b1']), (3, 'm', 'x', ['a2', 'b1', 'b2']),
    (4, 'm', 'y', ['a1', 'a2', 'b2']), (5, 'm', 'x', []), (6, 'm', 'y', NULL)
) AS t(customer, sex, shop, items);
CREATE HIERARCHY products AS LEVELS (FROM (VALUES ('a1', 'A'), ('a2', 'A'), ('b1', 'B'), ('b2', 'B')) AS t);
CREATE POLICY baskets ON purchases (customer ENTITY, shop INSENSITIVE, items QUASI IDENTIFIER USING products)
    REQUIRE km_anonymity(k => 2, m => 2);
"""
MAKE = "CREATE ANONYMIZED TABLE r AS POLICY {} METHOD itemsets"


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(SETUP) as connection:
        yield connection


def published(con: sqlanon.Connection, policy: str = "baskets", **arguments: str) -> list[tuple[object, ...]]:
    given = ", ".join(f"{name} => '{value}'" for name, value in arguments.items())
    con.execute(MAKE.format(policy).replace("CREATE", "CREATE OR REPLACE", 1) + (f"({given})" if given else ""))
    return sorted(con.execute("FROM r").fetchall(), key=repr)


def lists(con: sqlanon.Connection, values: str, hierarchy: str = "", kind: str = "VARCHAR[]", k: int = 2) -> None:
    """A table of lists, and a policy of that name for it."""
    con.execute(
        f"CREATE OR REPLACE TABLE l AS SELECT CAST(items AS {kind}) AS items FROM (VALUES {values}) AS t(items)"
    )
    con.execute(
        f"CREATE OR REPLACE POLICY l ON l (items QUASI IDENTIFIER {hierarchy}) REQUIRE km_anonymity(k => {k}, m => 2)"
    )


def test_a_list_without_items_and_null_in_place_of_one_are_published_as_empty(con: sqlanon.Connection) -> None:
    assert [items for shop, items in published(con) if not items] == [[], []]
    assert con.execute("CHECK r").fetchall() == [("main.r", "km_anonymity", None, 2.0, 2.0, True)]


def test_an_item_that_stands_twice_in_a_list_counts_once(con: sqlanon.Connection) -> None:
    lists(con, "(['a', 'a', 'b']), (['b', 'a'])")
    assert published(con, "l") == [(["a", "b"],), (["a", "b"],)]


def test_null_is_an_item_of_its_own_branch(con: sqlanon.Connection) -> None:
    lists(con, "(['a1', NULL]), ([NULL, 'a2'])", "USING products")
    assert published(con, "l") == [(["A", None],), (["A", None],)]


def test_several_nulls_in_a_list_are_refused_by_count(con: sqlanon.Connection) -> None:
    lists(con, "([NULL, NULL]), ([NULL, 'a']), ([NULL, NULL, 'a'])")
    with pytest.raises(DataError, match="2 lists of items have NULL several times") as raised:
        published(con, "l")
    assert "list_filter" in (raised.value.hint or "")


def test_items_of_other_types_have_labels_that_are_computed(con: sqlanon.Connection) -> None:
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10, 100)")
    lists(con, "([1, 25]), ([3, 25]), ([25])", "USING tens", "INTEGER[]")
    assert published(con, "l") == [(["25", "[0,10)"],), (["25", "[0,10)"],), (["25"],)]
    assert [kind for _, kind, *_ in con.execute("DESCRIBE r").fetchall()] == ["VARCHAR[]"]


def test_without_a_hierarchy_an_item_is_shown_or_all_are_stars(con: sqlanon.Connection) -> None:
    lists(con, "(['a']), (['a', 'b'])")
    assert published(con, "l") == [(["*"],), (["*"],)]


def test_a_label_that_gathers_no_other_item_is_not_taken(con: sqlanon.Connection) -> None:
    """b1 is the only item of its family that occurs: the label B would hide nothing."""
    lists(con, "(['a1', 'b1']), (['a2', 'b1']), (['b1'])", "USING products")
    assert published(con, "l") == [(["A", "b1"],), (["A", "b1"],), (["b1"],)]


def test_sets_are_counted_in_the_classes_of_the_other_quasi_identifiers(con: sqlanon.Connection) -> None:
    con.execute(
        "CREATE POLICY by_sex ON purchases (sex QUASI IDENTIFIER, items QUASI IDENTIFIER USING products) "
        "REQUIRE km_anonymity(k => 2, m => 2)"
    )
    rows = published(con, "by_sex")
    assert rows == [("f", ["A", "B"])] * 2 + [("m", ["A", "B"])] * 2 + [("m", [])] * 2
    assert con.execute("CHECK r").fetchall() == [("main.r", "km_anonymity", None, 2.0, 2.0, True)]


def test_a_class_of_too_few_rows_is_refused_though_its_lists_are_empty(con: sqlanon.Connection) -> None:
    """Who knows no item still finds the row by the other quasi-identifiers."""
    con.execute("UPDATE purchases SET sex = NULL WHERE customer = 5")
    con.execute(
        "CREATE POLICY by_sex ON purchases (sex QUASI IDENTIFIER, items QUASI IDENTIFIER) "
        "REQUIRE km_anonymity(k => 2, m => 1)"
    )
    with pytest.raises(PrivacyViolation, match=r"1 class of .* has fewer than 2 rows, .* \(1 row in all\)"):
        published(con, "by_sex")
    asked = "CHECK purchases (sex, items) REQUIRE km_anonymity(k => 2, m => 1)"
    assert con.execute(asked).fetchall()[0][3:] == (2.0, 1.0, False)


def test_a_respondent_with_several_rows_is_refused_by_count(con: sqlanon.Connection) -> None:
    con.execute("INSERT INTO purchases VALUES (1, 'f', 'x', ['a1'])")
    with pytest.raises(PolicyError, match="1 respondent has several rows") as raised:
        published(con)
    assert "flatten" in (raised.value.hint or "")


def test_lists_of_nobody_are_refused_by_count(con: sqlanon.Connection) -> None:
    """One of them would count as one more respondent, and it may be a second list of any other."""
    con.execute("INSERT INTO purchases VALUES (NULL, 'f', 'x', ['a1'])")
    with pytest.raises(PolicyError, match="1 list has no customer") as raised:
        published(con)
    assert "customer IS NOT NULL" in (raised.value.hint or "")


def test_items_that_the_hierarchy_lacks_are_counted_and_not_named(con: sqlanon.Connection) -> None:
    for items, lacks in (("['Mr Secret', 'Mr Secret']", "1 item"), ("['Ms Secret', NULL]", "2 items")):
        con.execute(f"INSERT INTO purchases VALUES (7, 'f', 'x', {items})")
        con.execute("UPDATE purchases SET customer = rowid")
        with pytest.raises(DataError) as raised:
            published(con)
        assert raised.value.message == f"the hierarchy products lacks {lacks} of the lists of items"
        assert "unnest(items) has the items" in (raised.value.hint or "")
        assert "Secret" not in str(raised.value)


def test_fewer_lists_than_k_are_refused(con: sqlanon.Connection) -> None:
    lists(con, "(['a']), (['b']), ([])", k=3)
    with pytest.raises(PrivacyViolation, match="would have 2 lists with items"):
        published(con, "l")
    assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("(['a']), (['b']), ([])", "r would have 2 lists with items, and at least 3 are required;"),
        ("(['a']), (NULL), ([])", "r would have 1 list with items, and at least 3 are required;"),
        ("(NULL), ([])", "r would have 2 lists without items, and at least 3 are required;"),
    ],
)
def test_an_error_says_how_many_lists_there_are(con: sqlanon.Connection, values: str, said: str) -> None:
    lists(con, values, k=3)
    with pytest.raises(PrivacyViolation) as raised:
        published(con, "l")
    assert raised.value.message.startswith(said)


ONE_LABEL = "all items are published as one label, and the lists say nothing: "


def remarks(con: sqlanon.Connection, policy: str, search: str = "apriori") -> list[str]:
    """What is remarked of a release when it is made, which its dry run says as well."""
    release = f"ANONYMIZED TABLE r AS POLICY {policy} METHOD itemsets(search => '{search}')"
    planned = [row[2] for row in con.execute(f"EXPLAIN {release}").fetchall() if row[0] == "remark"]
    ((*_, made),) = con.execute(f"CREATE OR REPLACE {release}").fetchall()
    assert (made or "").splitlines() == planned
    return planned


@pytest.mark.one_in(4)
@pytest.mark.parametrize("search", ["apriori", "optimal"])
@pytest.mark.parametrize("rare", ["NULL", "'a secret'"])
def test_a_rare_item_that_makes_all_of_them_stars_is_remarked(con: sqlanon.Connection, search: str, rare: str) -> None:
    con.execute(
        f"""CREATE TABLE b AS SELECT i AS who, ['it' || (i % 5), 'it' || (i % 7)] AS items FROM range(300) t(i)
            UNION ALL SELECT 1000, [{rare}]"""
    )
    for name, source in (("all_of_them", "b"), ("others", f"(FROM b WHERE items[1] IS DISTINCT FROM {rare})")):
        con.execute(
            f"CREATE POLICY {name} ON {source} (who ENTITY, items QUASI IDENTIFIER) "
            "REQUIRE km_anonymity(k => 2, m => 2)"
        )
    (remark,) = remarks(con, "all_of_them", search)
    assert remark.startswith(f"{ONE_LABEL}1 of 8 items is in fewer than 2 lists; leave NULLs and very rare items out")
    assert "secret" not in remark
    assert con.execute("SELECT DISTINCT items FROM r").fetchall() == [(["*"],)]
    assert remarks(con, "others", search) == []


def test_rare_sets_that_make_all_items_stars_are_remarked(con: sqlanon.Connection) -> None:
    lists(con, "(['a', 'b']), (['a']), (['b'])")
    sets = "each item is in at least 2 lists, but sets of items are in fewer; give a hierarchy with labels between"
    assert any(remark.startswith(ONE_LABEL + sets) for remark in remarks(con, "l"))
    con.execute(
        "CREATE TABLE c AS FROM (VALUES ('x', ['a']), ('x', ['b']), ('y', ['a']), ('y', ['b'])) AS t(sex, items)"
    )
    con.execute(
        "CREATE POLICY c ON c (sex QUASI IDENTIFIER, items QUASI IDENTIFIER) REQUIRE km_anonymity(k => 2, m => 1)"
    )
    sets = "each item is in at least 2 lists, but sets of items, or items within classes of the other columns, are in"
    assert any(remark.startswith(ONE_LABEL + sets) for remark in remarks(con, "c"))


def test_one_item_that_is_published_is_not_remarked(con: sqlanon.Connection) -> None:
    lists(con, "(['a']), (['a'])")
    assert remarks(con, "l") == []


def test_two_nodes_of_one_label_are_not_published(con: sqlanon.Connection) -> None:
    con.execute("CREATE HIERARCHY twice AS LEVELS (FROM (VALUES ('a', 'c'), ('b', 'c'), ('c', 'D')) AS t)")
    lists(con, "(['a', 'c']), (['b', 'c'])", "USING twice")
    with pytest.raises(DataError, match="1 label would represent several nodes of the hierarchy, such as 'c'"):
        published(con, "l")


def test_more_sets_than_are_counted_are_refused_with_the_longest_lists(con: sqlanon.Connection) -> None:
    with input_sizes.replaced(most_itemsets=10):
        with pytest.raises(PolicyError, match=r"have 11 sets of up to 2 items, and no more than 10 .* 3, 3, 3 items"):
            published(con)
        with pytest.raises(PolicyError, match="no more than 10"):
            con.execute("CHECK purchases (items) REQUIRE km_anonymity(k => 2, m => 2)")
    with input_sizes.replaced(most_itemsets=11):
        published(con)


def test_the_optimal_search_refuses_more_cuts_than_it_looks_at(con: sqlanon.Connection) -> None:
    with (
        sizes.replaced(most_cuts=4),
        pytest.raises(PolicyError, match="no more than 4 cuts of a hierarchy, and the items that occur have 5"),
    ):
        published(con, search="optimal")
    with sizes.replaced(most_cuts=5):
        assert published(con, search="optimal") == published(con)


def test_the_number_of_cuts() -> None:
    """Four families of two items: 2^4 + 1; three levels of them: (2 * 2 + 1)^2 + 1."""
    flat = [LeafRow(f"{f}{i}", 1, (f,)) for f in "abcd" for i in range(2)]
    deep = [LeafRow(f"{g}{f}{i}", 1, (g + f, g)) for g in "xy" for f in "ab" for i in range(2)]
    assert (number_of_cuts(item_tree(flat)), number_of_cuts(item_tree(deep))) == (17, 26)
    assert number_of_cuts(item_tree([])) == number_of_cuts(item_tree(flat[:1])) == 1


def refused(con: sqlanon.Connection, statement: str) -> tuple[str, str]:
    with pytest.raises(SqlanonError) as raised:
        con.execute(statement)
    return raised.value.message, raised.value.hint or ""


@pytest.mark.parametrize("method", ["generalization", "mondrian", "anatomy(l => 2)", "slicing(l => 2)", "trivial"])
def test_other_methods_name_the_one_that_gives_items_labels(con: sqlanon.Connection, method: str) -> None:
    con.execute(
        "CREATE POLICY p ON purchases (shop SENSITIVE, items QUASI IDENTIFIER USING products) "
        "REQUIRE km_anonymity(k => 2, m => 2)"
    )
    message, hint = refused(con, f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert "cannot meet km_anonymity(k => 2, m => 2)" in message
    assert hint == "use METHOD itemsets"


def test_a_hierarchy_of_items_is_none_of_whole_lists(con: sqlanon.Connection) -> None:
    con.execute("CREATE POLICY p ON purchases (items QUASI IDENTIFIER USING products) REQUIRE k_anonymity(k => 2)")
    message, hint = refused(con, "CREATE ANONYMIZED TABLE r AS POLICY p")
    assert "lacks values of the column items" in message
    assert "METHOD itemsets" in hint
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10)")
    con.execute("CREATE TABLE n AS SELECT [1, 2] AS items")
    hint = refused(con, "CREATE POLICY n ON n (items QUASI IDENTIFIER USING tens) REQUIRE k_anonymity(k => 2)")[1]
    assert "METHOD itemsets" in hint


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("shop QUASI IDENTIFIER", "no quasi-identifier has lists"),
        ("items QUASI IDENTIFIER, more QUASI IDENTIFIER", "there are items, more"),
    ],
)
def test_a_policy_without_one_column_of_lists_is_refused(con: sqlanon.Connection, columns: str, said: str) -> None:
    source = "(SELECT *, items AS more FROM purchases)"
    policy = f"CREATE POLICY p ON {source} ({columns}) REQUIRE km_anonymity(k => 2, m => 2)"
    assert said in refused(con, policy)[0]


def test_a_policy_that_requires_nothing_of_items_is_refused(con: sqlanon.Connection) -> None:
    con.execute("CREATE POLICY p ON purchases (items QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    assert "cannot meet k_anonymity(k => 2)" in refused(con, MAKE.format("p"))[0]


def test_queries_about_items_are_not_estimated_and_others_are(con: sqlanon.Connection) -> None:
    published(con)
    answer = con.execute("ESTIMATE SELECT count(*) AS n FROM purchases WHERE shop = 'x' FROM RELEASE r").fetchall()
    assert answer == [(3.0, 0.0, 3, 3, None)]
    message, _ = refused(
        con, "ESTIMATE SELECT count(*) AS n FROM purchases WHERE list_contains(items, 'a1') FROM RELEASE r"
    )
    assert "labels of the items in lists" in message


def test_a_frontier_says_that_there_is_one_method(con: sqlanon.Connection) -> None:
    message, _ = refused(con, "FRONTIER f ON POLICY baskets METHODS (itemsets) MEASURE p_loss, u_loss")
    assert "only METHOD itemsets can satisfy" in message


def test_figures_of_levels_are_left_out_and_classes_are_those_of_whole_lists(con: sqlanon.Connection) -> None:
    published(con)
    figures = dict(row[1::2] for row in con.execute("MEASURE r").fetchall())
    assert figures["least_class_size"] == 1.0
    assert "granularity_loss" not in figures
    message, _ = refused(con, "MEASURE r WITH FIGURES (granularity_loss)")
    assert "labels of the items in lists" in message


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb"])
def test_a_receiver_counts_the_sets_in_the_file(con: sqlanon.Connection, tmp_path: Path, format_: str) -> None:
    lists(con, """(['a, b', '[c]', NULL, '']), (['', NULL, 'a, b', '[c]']), ([]), (['NULL']), (['NULL', '"'])""")
    con.execute("UPDATE l SET items = ['NULL', '\"'] WHERE len(items) = 1")
    published(con, "l")
    folder = tmp_path / "out"
    con.execute(f"EXPORT r TO '{folder}' (FORMAT {format_})")
    checked = con.execute(f"CHECK '{folder / 'certificate.json'}'").fetchall()
    assert ("r", "km_anonymity", None, 2.0, 2.0, True, "recomputed from the files") in checked


def test_a_changed_release_is_found_out(con: sqlanon.Connection) -> None:
    published(con)
    con.execute("UPDATE r SET items = ['b1', 'b1'] WHERE items = ['A', 'b1']")
    with pytest.raises(PrivacyViolation, match="1 row of items have no list, or one with a label twice"):
        con.execute("CHECK r")
    published(con)
    con.execute("UPDATE r SET items = ['a1', 'b1'] WHERE items = ['A', 'b1']")
    assert con.execute("CHECK r").fetchall()[0][-1] is False


@pytest.mark.long
def test_the_certificate_defines_the_loss_and_the_labels(con: sqlanon.Connection, tmp_path: Path) -> None:
    published(con)
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}'")
    text = (tmp_path / "out" / "certificate.json").read_text()
    assert '"reading": "item_labels"' in text
    assert "normalized certainty penalty (NCP) of items" in text


def test_a_series_says_that_lists_are_in_no_classes(con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", "a key that is long enough")
    con.execute("CREATE SERIES s ON POLICY baskets KEY 'SERIES_KEY'")
    message, _ = refused(con, MAKE.format("baskets") + " IN SERIES s")
    assert message.startswith("METHOD itemsets publishes lists in no classes")


def test_a_table_without_rows_is_published_without_any(con: sqlanon.Connection) -> None:
    con.execute("DELETE FROM purchases")
    for search in ("apriori", "optimal"):
        assert published(con, search=search) == []
    assert con.execute("CHECK r").fetchall() == [("main.r", "km_anonymity", None, 2.0, None, True)]


def test_a_snapshot_is_made_anew(con: sqlanon.Connection) -> None:
    published(con)
    con.execute("INSERT INTO purchases SELECT customer + 10, sex, shop, items FROM purchases")
    con.execute("REFRESH ANONYMIZED TABLE r")
    assert con.execute("SELECT count(*) FROM r WHERE list_contains(items, 'a1')").fetchall() == [(4,)]


def test_sets_of_items_are_counted_by_all_other_columns(con: sqlanon.Connection) -> None:
    message, hint = refused(con, "CHECK purchases (items) REQUIRE km_anonymity(k => 2, m => 2, on => (items))")
    assert "km_anonymity is about the items in lists, and takes no columns to be on" in message
    assert hint == "leave on out of km_anonymity"


@pytest.mark.long
def test_many_lists_are_counted_as_python_counts_them() -> None:
    """More items than DuckDB has rows in a group of rows, in tables that are changed in place."""
    with sqlanon.connect() as con:
        con.duckdb.execute("SELECT setseed(0.5)").fetchall()
        con.execute(
            """CREATE TABLE l AS SELECT list_distinct(list_transform(range(1 + i % 12), lambda n:
                   'i' || CAST(floor(60 * pow(random() + 0 * n, 3)) AS INTEGER))) AS items FROM range(40000) AS t(i);
               CREATE HIERARCHY h AS LEVELS (SELECT 'i' || i, 'g' || i // 5, 'd' || i // 20 FROM range(61) AS t(i));
               CREATE POLICY l ON l (items QUASI IDENTIFIER USING h) REQUIRE km_anonymity(k => 40, m => 3)"""
        )
        assert con.execute("SELECT sum(len(items)) > 150000 FROM l").fetchall() == [(True,)]
        con.execute(MAKE.format("l"))
        supports: Counter[tuple[str, ...]] = Counter()
        lists = [items for (items,) in con.execute("FROM r").fetchall()]
        for items in lists:
            supports.update(part for size in (1, 2, 3) for part in combinations(items, size))
        assert len(lists) == 40_000
        assert {"i", "g"} <= {label[0] for labels in supports for label in labels}
        assert con.execute("CHECK r").fetchall()[0][4] == min(supports.values()) >= 40
        exact = con.execute("SELECT count(*) FROM l WHERE list_contains(items, 'i0')").fetchall()[0][0]
        assert supports["i0",] == exact


def test_neither_of_two_requirements_is_the_stricter(con: sqlanon.Connection) -> None:
    policy = "CREATE POLICY p ON purchases (items QUASI IDENTIFIER USING products) REQUIRE "
    message, hint = refused(con, policy + "km_anonymity(k => 5, m => 2), km_anonymity(k => 3, m => 3)")
    assert "km_anonymity is required twice" in message
    assert hint == "keep one km_anonymity(...), with the stricter of each number"


def test_lists_in_a_csv_file_are_cast_in_a_query(con: sqlanon.Connection, tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    con.duckdb.execute(f"COPY (SELECT items, 'x' AS region FROM purchases WHERE len(items) > 0) TO '{path}'")
    required = "(items, region) REQUIRE km_anonymity(k => 2, m => 1)"
    message, hint = refused(con, f"CHECK '{path}' {required}")
    assert "no quasi-identifier has lists" in message
    cast = "(SELECT items::VARCHAR[] AS items, ... FROM ...)"
    assert cast in hint
    query = cast.replace("...", "region", 1).replace("...", f"'{path}'")
    assert con.execute(f"CHECK {query} {required}").fetchall()[0][3:] == (2.0, 2.0, True)


def test_measure_names_what_it_lacks_once_and_gives_the_reason_of_each(con: sqlanon.Connection) -> None:
    published(con)
    events: list[StatementEvent] = []
    con.script("MEASURE r", events.append)
    [remark] = [remark for remark in events[1].remarks if "granularity_loss" in remark]
    named = 'MEASURE "r" WITH FIGURES (granularity_loss)'
    assert remark.endswith(f"{named} says why")
    with pytest.raises(PolicyError, match="items: it is published as labels of the items in lists"):
        con.execute(named)


@pytest.mark.long
def test_a_report_says_what_is_promised_of_lists(con: sqlanon.Connection) -> None:
    published(con)
    text = page_of(con, "r").text
    assert "by a whole list is not measured: the requirements are about readers who know a few of its items" in text
    assert "rows of one respondent count as one" not in text
