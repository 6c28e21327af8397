"""The oracle of Mondrian against partitions, labels and losses worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import pytest

from tests.oracles.mondrian import (
    Attribute,
    Domain,
    Mondrian,
    Options,
    ancestor_label,
    bounds,
    granularity_loss,
    range_label,
)

STRICT = Options()
# In the order of the tree: a, z, b, c, d. The value c is listed and never occurs below.
TREE = {"a": ("A", "X"), "z": ("A", "X"), "b": ("B", "X"), "c": ("B", "X"), "d": ("D", "Y")}


def at_least(k: int) -> Callable[[list[int]], bool]:
    return lambda region: len(region) >= k


def of(order: str = "numeric", name: str = "a", **more: Any) -> Attribute:
    return Attribute(name, order, **more)


def domain(attribute: Attribute, values: Sequence[Any]) -> Domain:
    return Domain(attribute, [{attribute.name: value} for value in values])


def regions(
    attributes: Sequence[Attribute],
    rows: Sequence[Sequence[Any]],
    satisfied: Callable[[list[int]], bool],
    options: Options = STRICT,
    others: Sequence[str] = (),
) -> list[list[int]] | None:
    """The regions as the places of their rows, sorted; the columns are the attributes and then `others`."""
    names = [*(attribute.name for attribute in attributes), *others]
    table = [dict(zip(names, row, strict=True)) for row in rows]
    domains = [Domain(attribute, table) for attribute in attributes]
    found = Mondrian(table, domains, options, satisfied).partition()
    return None if found is None else sorted(map(sorted, found))


def by_value(
    attribute: Attribute, values: Sequence[Any], satisfied: Callable[[list[int]], bool], options: Options = STRICT
) -> list[list[Any]] | None:
    """The values of each region of a table of one column, in the order of the rows."""
    found = regions([attribute], [(value,) for value in values], satisfied, options)
    return None if found is None else [[values[place] for place in region] for region in found]


def test_the_median_of_one_attribute_again_and_again() -> None:
    values = [8, 1, 6, 3, 4, 5, 2, 7]
    assert by_value(of(), values, at_least(2)) == [[8, 7], [1, 2], [6, 5], [3, 4]]
    assert by_value(of(), values, at_least(3)) == [[8, 6, 5, 7], [1, 3, 4, 2]]
    assert by_value(of(), values, at_least(5)) == [values]


def test_no_partition_where_all_rows_are_too_few_and_an_empty_one_without_rows() -> None:
    assert by_value(of(), [1, 2, 3], at_least(4)) is None
    assert by_value(of(), [1], at_least(2)) is None
    assert by_value(of(), [1], at_least(1)) == [[1]]
    assert by_value(of(), [], at_least(2)) == []
    # Asked are the halves, and all rows only if they stay together.
    assert by_value(of(), [1, 2, 3, 4], lambda region: len(region) == 2) == [[1, 2], [3, 4]]


def test_equal_values_stay_together_and_of_equal_cuts_the_smaller_left_half_is_taken() -> None:
    # 1 | 2 2 2 3 and 1 2 2 2 | 3 differ by three rows each.
    values = [1, 2, 2, 2, 3]
    first: list[list[int]] = []

    def one_cut(region: list[int]) -> bool:
        first.append(sorted(region))
        return len(first) <= 2

    by_value(of(), values, one_cut)
    assert first[:2] == [[0], [1, 2, 3, 4]]
    assert by_value(of(), values, at_least(1)) == [[1], [2, 2, 2], [3]]
    # No attribute is left once the cut after 1 has failed.
    assert by_value(of(), values, at_least(2)) == [values]
    # 1 1 | 2 2 2 3 differ by 2, 1 1 2 2 2 | 3 by 4.
    assert by_value(of(), [1, 1, 2, 2, 2, 3], at_least(2)) == [[1, 1], [2, 2, 2, 3]]
    assert by_value(of(), [5, 5, 5, 5], at_least(1)) == [[5, 5, 5, 5]]


def test_null_is_the_last_value() -> None:
    assert by_value(of(), [None, 10, None, 20], at_least(2)) == [[None, None], [10, 20]]
    assert by_value(of("values"), ["b", None, "a", "c"], at_least(2)) == [["b", "a"], [None, "c"]]
    assert by_value(of(), [None, None], at_least(1)) == [[None, None]]


def test_null_stands_after_the_greatest_number_by_the_mean_gap() -> None:
    column = domain(of(), [10, 40, None, 20, 20])
    # (40 - 10) / (3 - 1) = 15 for the three values 10, 20 and 40.
    assert column.positions == [10.0, 20.0, 40.0, 55.0]
    assert column.share([0, 3]) == 10 / 45
    assert domain(of(), [7, None]).positions == [7.0, 8.0]
    assert domain(of(), [None]).share([0]) == 0
    assert domain(of("values"), ["x", None, "y"]).positions == [0.0, 1.0, 2.0]


def test_positions_of_dates_and_timestamps() -> None:
    assert domain(of(), [date(1970, 1, 3), date(1969, 12, 31)]).positions == [-1.0, 2.0]
    moments = [datetime(1970, 1, 1, 0, 1, 0, 500_000), datetime(1969, 12, 31, 23, 59, 59)]
    assert domain(of(), moments).positions == [-1.0, 60.5]


def test_the_widest_attribute_is_cut_first_and_the_first_of_equally_wide_ones() -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    a, b = of(), of(name="b")
    assert regions([a, b], rows, at_least(2)) == [[0, 1], [2, 3]]
    assert regions([a, replace(b, weight=1.5)], rows, at_least(2)) == [[0, 2], [1, 3]]
    # All rows span both attributes whole; their left half 0.2 of a and all of b, so that b is cut next.
    rows = [(0, 0), (20, 0), (10, 9), (20, 9), (100, 0), (90, 0), (80, 9), (90, 9)]
    assert regions([a, b], rows, at_least(2)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    # With a weight of 6 it is 1.2 of a: 0 10 | 20 20. On the right 80 | 90 90 100 fails, and b is next.
    assert regions([replace(a, weight=6.0), b], rows, at_least(2)) == [[0, 2], [1, 3], [4, 5], [6, 7]]


def test_what_is_narrow_among_numbers_can_be_wide_among_ranks() -> None:
    # 0, 1 and 1000 are 0, 0.001 and 1 of the way as numbers, 0, 0.5 and 1 as ranks; b is 0.25 wide in the left half.
    rows = [(0, 0), (0, 1), (1, 0), (1, 1), (1000, 4), (1000, 4), (1000, 4), (1000, 4)]
    b = of(name="b")
    assert regions([of(), b], rows, at_least(2)) == [[0, 2], [1, 3], [4, 5, 6, 7]]
    assert regions([of("values"), b], rows, at_least(2)) == [[0, 1], [2, 3], [4, 5, 6, 7]]


def test_numbers_that_are_one_double_are_cut_all_the_same() -> None:
    values = [2**53, 2**53 + 1]
    assert domain(of(), values).share([0, 1]) == 0
    assert by_value(of(), values, at_least(1)) == [[2**53], [2**53 + 1]]


def test_a_cut_that_fails_leaves_the_other_attributes_to_try() -> None:
    # The median of a is 1 | 9 9 9.
    rows = [(1, 1), (9, 1), (9, 2), (9, 2)]
    attributes = [of(), of(name="b")]
    assert regions(attributes, rows, at_least(2)) == [[0, 1], [2, 3]]
    assert regions(attributes, rows, at_least(1)) == [[0], [1], [2, 3]]


def two_of(values: Sequence[Any]) -> Callable[[list[int]], bool]:
    """Whether a region holds two values."""
    return lambda region: len({values[place] for place in region}) >= 2


def test_in_a_half_all_attributes_are_untried() -> None:
    # a: 1 1 1 1 | 2 2 3 3 9 fails, as its left half holds x only. In the half where b is 1 there is 2 2 | 3 3.
    rows = [(2, 1), (2, 1), (3, 1), (3, 1), (1, 2), (1, 2), (1, 2), (1, 2), (9, 2)]
    found = regions([of(), of(name="b")], rows, two_of("xyxyxxxxy"))
    assert found == [[0, 1], [2, 3], [4, 5, 6, 7, 8]]


def test_both_halves_have_to_meet_the_requirement() -> None:
    # 0 1 2 3 | 4 5 6 7; of these 0 1 and 6 7 would hold one value each.
    assert by_value(of(), [*range(8)], two_of("xxyxyxyy")) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert by_value(of(), [*range(8)], two_of("xyxyxyxy")) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    # 0 1 2 3 | 4 5 would stand, but is not the median.
    assert by_value(of(), [*range(6)], two_of("xxxyyx")) == [[*range(6)]]


def test_relaxed_cuts_share_the_median_out() -> None:
    relaxed = Options("relaxed")
    assert by_value(of(), [5, 1, 5, 5], at_least(2)) == [[5, 1, 5, 5]]
    # Five rows: two in the left half. What is constant is not cut.
    assert by_value(of(), [1, 2, 2, 3, 3], at_least(2), relaxed) == [[1, 2], [2, 3, 3]]
    assert by_value(of(), [2, 2, 2, 2], at_least(2), relaxed) == [[2, 2, 2, 2]]


def test_relaxed_cuts_sort_equal_values_by_all_attributes_in_their_order() -> None:
    # Of the rows with a = 1 the one with b = 0 goes left with that of a = 0.
    rows = [(1, 2), (1, 0), (1, 1), (0, 1)]
    attributes = [replace(of(), weight=2.0), of(name="b")]
    assert regions(attributes, rows, at_least(2), Options("relaxed")) == [[0, 2], [1, 3]]
    # The attribute that is cut comes first: b is 0 1 | 1 2, and of the rows with b = 1 the one with a = 0 goes left.
    rows = [(0, 2), (1, 0), (0, 1), (9, 1)]
    attributes = [of(), replace(of(name="b"), weight=2.0)]
    assert regions(attributes, rows, at_least(2), Options("relaxed")) == [[0, 3], [1, 2]]


def test_the_order_of_a_tree() -> None:
    tree = of("tree", paths=TREE)
    assert domain(tree, "dbza").values == ["a", "z", "b", "c", "d"]
    backwards = of("tree", paths=dict(reversed(TREE.items())))
    assert domain(backwards, "dbza").values == ["a", "z", "b", "c", "d"]
    listed = of("tree", paths={**TREE, None: ("A", "X")})
    assert domain(listed, ["d", None]).values == ["a", "z", None, "b", "c", "d"]
    # A NULL that is not listed has no labels, and is the last.
    apart = of("tree", paths={**TREE, None: (None, None)})
    assert domain(apart, ["d", None]).values == ["a", "z", "b", "c", "d", None]
    # A label under two labels is two nodes.
    paths = {1: ("odd", "low"), 2: ("even", "low"), 11: ("odd", "high"), 3: ("odd", "low")}
    assert domain(of("tree", paths=paths), [1]).values == [1, 3, 2, 11]


def test_cuts_between_the_children_of_the_lowest_common_ancestor() -> None:
    tree = of("tree", paths=TREE)
    respecting = Options(hierarchy="tree")
    values = [*"aazbbd"]
    # In order, the values at 0 0 1 2 2 4, it is a a z | b b d; between children of the root a a z b b | d.
    assert by_value(tree, values, at_least(3)) == [["a", "a", "z"], ["b", "b", "d"]]
    assert by_value(tree, values, at_least(3), respecting) == [values]
    # Then between those of X, A and B, then between the leaves below A.
    expected = [["a", "a"], ["z"], ["b", "b"], ["d"]]
    assert by_value(tree, values, at_least(1), respecting) == expected
    # The lowest common ancestor is that of the region, not of the table: A and B are apart without d.
    assert by_value(tree, values[:-1], at_least(2), respecting) == [["a", "a", "z"], ["b", "b"]]
    # An attribute without a hierarchy is cut as ever.
    assert by_value(of("values"), [*"abcd"], at_least(2), respecting) == [["a", "b"], ["c", "d"]]


def test_tree_cuts_of_numbers_in_intervals() -> None:
    bands = {value: (f"[{value // 10 * 10},{value // 10 * 10 + 10})",) for value in (1, 2, 3, 11, 12, 13, 14, 25)}
    numbers = of(paths=bands)
    # 1 | 11 12 13 14 25 and 1 11 12 13 14 | 25 are the cuts between bands.
    values = [1, 11, 12, 13, 14, 25]
    assert by_value(numbers, values, at_least(3)) == [[1, 11, 12], [13, 14, 25]]
    assert by_value(numbers, values, at_least(1), Options(hierarchy="tree")) == [[1], [11], [12], [13], [14], [25]]
    assert by_value(numbers, values, at_least(2), Options(hierarchy="tree")) == [values]
    assert by_value(numbers, [1, 2, 3, 11], at_least(1), Options("relaxed", hierarchy="tree")) == [[1], [2], [3], [11]]
    # Relaxed, by band and only then by number: 1 2 | 3 11.
    relaxed = Options("relaxed", hierarchy="tree")
    assert by_value(numbers, [11, 3, 1, 2], at_least(2), relaxed) == [[11, 3], [1, 2]]


def test_the_cut_of_greatest_information_gain() -> None:
    gain = Options(split="information_gain", target="t")
    attributes = [of()]
    rows = [*zip(range(1, 7), "xxyyyy", strict=True)]
    # 1 2 | 3 4 5 6 leaves nothing unknown; the median is 1 2 3 | 4 5 6. Then 3 4 | 5 6, as all cuts gain nothing.
    assert regions(attributes, rows, at_least(2), replace(gain, least=2), ["t"]) == [[0, 1], [2, 3], [4, 5]]
    # With three rows in each half there is the cut in the middle only.
    assert regions(attributes, rows, at_least(3), replace(gain, least=3), ["t"]) == [[0, 1, 2], [3, 4, 5]]
    # Nothing but `least` keeps a cut from being chosen: 1 2 | ... is, and fails; the attribute has no second one.
    assert regions(attributes, rows, at_least(3), gain, ["t"]) == [[0, 1, 2, 3, 4, 5]]
    assert regions(attributes, rows, at_least(4), replace(gain, least=4), ["t"]) == [[0, 1, 2, 3, 4, 5]]


def test_attributes_are_tried_by_gain_then_by_width() -> None:
    gain = Options(split="information_gain", target="t", least=2)
    attributes = [of(), of(name="b")]
    # a, the wider, says nothing of the target, b everything.
    rows = [(0, 0, "x"), (9, 0, "x"), (0, 1, "y"), (9, 1, "y")]
    assert regions(attributes, rows, at_least(2), gain, ["t"]) == [[0, 1], [2, 3]]
    assert regions([replace(of(), weight=5.0), of(name="b")], rows, at_least(2), gain, ["t"]) == [[0, 1], [2, 3]]
    assert regions(attributes, rows, at_least(2), Options(), ["t"]) == [[0, 2], [1, 3]]
    # Of equal gains the wider, of equal widths the first. A requirement that fails leaves the second to try.
    same = [(a, b, "x") for a, b, _ in rows]
    assert regions(attributes, same, at_least(2), gain, ["t"]) == [[0, 2], [1, 3]]
    assert regions([of(), of(name="b", weight=2.0)], same, at_least(2), gain, ["t"]) == [[0, 1], [2, 3]]

    def not_the_first_two(region: list[int]) -> bool:
        return sorted(region) != [0, 1]

    assert regions(attributes, rows, not_the_first_two, gain, ["t"]) == [[0, 2], [1, 3]]


def test_of_cuts_of_equal_gain_the_one_in_the_middle_and_then_the_smaller_left_half() -> None:
    gain = Options(split="information_gain", target="t")
    seen: list[list[int]] = []

    def first(region: list[int]) -> bool:
        seen.append(region)
        return len(seen) <= 2

    # x y y x: 1 | 2 3 4 and 1 2 3 | 4 gain 0.311 bits each, 1 2 | 3 4 none.
    regions([of()], [*zip(range(4), "xyyx", strict=True)], first, gain, ["t"])
    assert seen[:2] == [[0], [1, 2, 3]]
    # x x y x y: after two 3 * 0.918 = 2.75 bits are left, after four 4 * 0.811 = 3.25.
    seen.clear()
    regions([of()], [*zip(range(5), "xxyxy", strict=True)], first, gain, ["t"])
    assert seen[:2] == [[0, 1], [2, 3, 4]]
    # NULL is a value of the target: None None | y y.
    seen.clear()
    regions([of()], [*zip(range(5), [None, None, "y", "y", "y"], strict=True)], first, gain, ["t"])
    assert seen[:2] == [[0, 1], [2, 3, 4]]


@pytest.mark.parametrize(
    ("values", "label", "ends"),
    [
        ([20, 35, 21], "[20, 35]", (20, 35)),
        ([20, 20], "20", (20, 20)),
        ([20, None, 35], "[20, 35] or NULL", (20, 35)),
        ([None, 20], "20 or NULL", (20, 20)),
        ([None, None], None, (None, None)),
        ([-5, -20], "[-20, -5]", (-20, -5)),
    ],
)
def test_range_labels_and_bounds(values: list[Any], label: str | None, ends: tuple[Any, Any]) -> None:
    column = domain(of(), [0, 50, *values])
    region = list(range(2, 2 + len(values)))
    assert range_label(column, region) == label == ancestor_label(column, region)
    assert bounds(column, region) == ends


def test_ancestor_labels() -> None:
    column = domain(of("tree", paths=TREE), "azbd")
    labels = [ancestor_label(column, region) for region in ([0], [0, 1], [1, 2], [2], [0, 3])]
    assert labels == ["a", "A", "X", "b", "*"]
    # Along the tree z comes before b.
    assert range_label(column, [1, 2]) == "[z, b]"
    assert bounds(column, [1, 2]) == ("z", "b")
    null = domain(of("tree", paths={**TREE, None: (None, None)}), ["a", None])
    assert [ancestor_label(null, region) for region in ([0], [1], [0, 1])] == ["a", None, "*"]


def test_the_loss_of_ranges() -> None:
    # One of the two others and none, two rows each, however far apart they are.
    rows = [{"a": value} for value in (0, 10, 40, 40)]
    parts = [[0, 1], [2, 3]]
    for order in ("numeric", "values"):
        assert granularity_loss([Domain(of(order), rows)], parts) == pytest.approx(1 / 4)
    assert granularity_loss([Domain(of(), rows)], [[0, 1, 2, 3]]) == 1
    for order in ("numeric", "values"):
        assert granularity_loss([Domain(of(order), rows[2:])], [[0, 1]]) == 0
    assert granularity_loss([Domain(of(), [])], []) == 0
    # NULL is among the values of a range that says so, and not of one that ends before it.
    with_null = [{"a": value} for value in (0, 10, 40, None)]
    assert granularity_loss([Domain(of(), with_null)], [[0, 3], [1, 2]]) == pytest.approx(1 / 3)
    assert granularity_loss([Domain(of(), with_null)], [[0, 1, 2], [3]]) == pytest.approx(3 / 4 * 2 / 3)
    # Weighted: (3 * 1/4 + 1 * 0) / 4.
    same = [{"a": value} for value in (1, 1, 2, 2)]
    weighted = [Domain(of(weight=3.0), rows), Domain(of("values"), same)]
    assert granularity_loss(weighted, parts) == pytest.approx(3 / 16)


def test_the_loss_of_ancestors() -> None:
    # a and b are 2 of the 4 steps from a to d; X has three other leaves than the one, c among them.
    column = domain(of("tree", paths=TREE), "abd")
    assert granularity_loss([column], [[0, 1], [2]]) == pytest.approx(2 / 4 * 2 / 3)
    assert granularity_loss([column], [[0, 1], [2]], "ancestor") == pytest.approx(3 / 4 * 2 / 3)
    assert granularity_loss([column], [[0, 1, 2]], "ancestor") == 1
    assert granularity_loss([domain(of(), [0, 10, 40])], [[0, 1], [2]], "ancestor") == pytest.approx(1 / 2 * 2 / 3)
