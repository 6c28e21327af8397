"""Every method, and that of the page on adding one: what each is called with, over a source with hostile names."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from sqlanon.domain.requests import BUDGET
from sqlanon.methods import registry
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.arguments import called
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.create_release import CreateRelease
from tools.method_lists import example_arguments

__all__ = [
    "CALLS",
    "EXAMPLE",
    "IN_SERIES",
    "RANGES",
    "ROOT",
    "SETUP",
    "SOURCE",
    "default_call",
    "example_module",
    "limits_of",
    "with_example",
]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "maintainers" / "adding-a-method.md"
FILE = re.compile(r"^`method\.py`, in the folder of the method:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The key of the series.
os.environ.setdefault("SQLANON_TEST_KEY", "a key that nobody knows")

# The name of a table with a quote in it.
SOURCE = '"the ""house"'
# Names that have to be quoted, and NULL among the values of every column.
SETUP = f"""
CREATE TABLE {SOURCE} AS
    SELECT i AS who, CASE WHEN i % 11 <> 0 THEN i % 6 END AS "é age",
           CASE WHEN i % 13 <> 0 THEN 'z' || (i % 4) END AS "select",
           CASE WHEN i % 17 <> 0 THEN 'd' || (i * 7 % 5) END AS "it's",
           CASE WHEN i % 19 <> 0 THEN ['b' || (i % 5), CASE WHEN i % 7 <> 0 THEN 'c' || (i % 3) END] END AS "[ite""ms]"
    FROM range(240) AS t(i);
CREATE HIERARCHY goods AS LEVELS (
    SELECT item, item[1:1] AS family FROM (SELECT DISTINCT unnest("[ite""ms]") AS item FROM {SOURCE}) AS t
    WHERE item IS NOT NULL
);
CREATE POLICY p ON {SOURCE} ("é age" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, "it's" SENSITIVE)
    REQUIRE k_anonymity(k => 2);
CREATE POLICY apart ON {SOURCE} ("é age" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, "it's" SENSITIVE)
    CONFIDENTIAL ("select", "it's");
CREATE POLICY buckets ON {SOURCE} ("é age" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, "it's" SENSITIVE)
    REQUIRE l_diversity(l => 2, variant => 'probabilistic');
CREATE POLICY people ON {SOURCE}
    (who ENTITY, "é age" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, "it's" SENSITIVE)
    REQUIRE l_diversity(l => 2, variant => 'probabilistic');
CREATE SERIES monthly ON POLICY people KEY 'SQLANON_TEST_KEY' REQUIRE m_invariance(m => 2);
CREATE POLICY baskets ON {SOURCE} ("é age" INSENSITIVE, "select" INSENSITIVE, "it's" INSENSITIVE,
    "[ite""ms]" QUASI IDENTIFIER USING goods) REQUIRE km_anonymity(k => 12, m => 2);
CREATE POLICY families ON {SOURCE}
    (who ENTITY, "é age" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, "it's" SENSITIVE)
    WITH TABLE (SELECT who, "é age" % 2 AS "w'ard" FROM {SOURCE}) AS "its ""visits" ON (who)
    ("w'ard" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE HIERARCHY six AS LEVELS (FROM range(6));
CREATE HIERARCHY places AS LEVELS (SELECT 'z' || i FROM range(4) AS t(i));
CREATE HIERARCHY "it's all" AS LEVELS (SELECT 'd' || i FROM range(6) AS t(i));
CREATE POLICY noisy ON {SOURCE}
    (who ENTITY, "é age" QUASI IDENTIFIER USING six, "select" QUASI IDENTIFIER USING places,
     "it's" SENSITIVE USING "it's all") REQUIRE k_anonymity(k => 2);
CREATE BUDGET "its ""budget" ON POLICY noisy (epsilon => 1000, delta => 0.001);
CREATE WORKLOAD asked ON POLICY p (queries => 40, dimensions => 2, seed => 1);
"""
# The method of the page.
EXAMPLE = "columns"
# A second line of a method that publishes something else by an argument.
RANGES = "m_invariance_ranges"
# What is behind the call of a method that adds noise.
PAID = ' UNDER BUDGET "its ""budget"'
# What is behind the call of a method that makes releases of a series.
IN_SERIES = " IN SERIES monthly"


def default_call(name: str) -> tuple[str, str]:
    """A policy with what the method can do, and the method with the examples of the arguments that it needs."""
    method = registry.find_method(name)
    arguments = example_arguments(method)
    options = method.options(arguments)
    limits, call = method.limits(options), called(name, dict(arguments))
    if BUDGET in dict(arguments):
        return "noisy", called(name, {n: value for n, value in arguments if n != BUDGET}) + PAID
    if limits.without_related:
        return "families", call
    if limits.without_series:
        return "people", f"{call}{IN_SERIES}"
    if limits.unconstrained:
        return "apart", call
    if limits.requirements:
        return "baskets", call
    return "buckets" if method.promises(options) else "p", call


# Policies that methods can keep, and the methods with arguments. Of one without a line here it is `default_call`.
_LINES = {
    "anatomy": ("buckets", "anatomy(l => 2)"),
    "dp_histogram": ("noisy", f"""dp_histogram(by => ("é age", "it's"), epsilon => 1){PAID}"""),
    "dp_synthetic": ("noisy", f"""dp_synthetic(epsilon => 1, columns => ("é age", "it's")){PAID}"""),
    "generalization": ("p", "generalization(suppression => 0.3)"),
    "loose": ("apart", "loose(k => 4, suppression => 0.2)"),
    "m_invariance": ("people", f"m_invariance(m => 2){IN_SERIES}"),
    RANGES: ("people", f"m_invariance(m => 2, publish => 'ranges'){IN_SERIES}"),
    "multirelational": ("families", "multirelational(suppression => 0.3)"),
    "slicing": ("buckets", "slicing(l => 2)"),
    "trivial": ("buckets", "trivial"),
    EXAMPLE: ("apart", "columns(fewest => 5)"),
}
CALLS = {
    name: _LINES[name] if name in _LINES else default_call(name) for name in dict.fromkeys((*registry.METHODS, *_LINES))
}


def limits_of(call: str) -> Limits:
    """What a method can do, by its name and its arguments as a user writes them."""
    [statement] = parse_script(f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {call}")
    assert isinstance(statement, CreateRelease)
    method = registry.find_method(statement.method.name)
    found = method.limits(method.options(statement.method.arguments))
    assert isinstance(found, Limits)
    return found


def example_module(folder: Path) -> str:
    """Writes the page's module into a folder, imports it, and returns the name that it is imported by."""
    match = FILE.search(PAGE.read_text(encoding="utf-8"))
    assert match is not None
    path, name = folder / "columns_method.py", "columns_method_of_the_page"
    path.write_text(match[1], encoding="utf-8")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Data classes look up their own module.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return name


def with_example(folder: Path) -> dict[str, str]:
    """The methods that there are, and the example of the page."""
    return {**registry.METHODS, EXAMPLE: example_module(folder)}
