"""What a method can do with what a statement and its policy may ask for, and the sentences that refuse the rest."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ON_DUCKDB",
    "Limits",
    "Refusal",
    "no_columns",
    "no_confidential",
    "no_distributed",
    "no_itemsets",
    "no_joined",
    "no_projections",
    "no_related",
    "no_script",
    "no_series",
    "no_sets",
]


ON_DUCKDB = "make it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)"


@dataclass(frozen=True)
class Refusal:
    """Why a method cannot do something, and what can be done instead.

    Both may have places for what they are about: {policy} and {method}, and {column}, {level}, {requirement} or {set}
    where the ability is about one.
    """

    sentence: str
    hint: str


@dataclass(frozen=True)
class Limits:
    """What a method can do: of each ability None where it can, or the sentence that refuses it.

    No field has a default: a method says something of each. What a statement uses is looked for in this order, and the
    first that is refused ends it.
    """

    # WITH TABLE: several tables about the same respondents.
    related: Refusal | None
    # A live view, which makes the release anew at each query.
    view: Refusal | None
    # IN SERIES: who is in which class is remembered, and what several releases tell together is checked.
    series: Refusal | None
    # A release in no series.
    without_series: Refusal | None
    # A policy without CONFIDENTIAL sets.
    unconstrained: Refusal | None
    # A policy with CONFIDENTIAL sets: columns that must not be seen together.
    confidential: Refusal | None
    # FRAGMENTS (column, ...), ...: the columns of each table.
    sets: Refusal | None
    # COLUMNS (column, ...), ... or COLUMNS EACH: the attributes whose values stay together within a bucket.
    columns: Refusal | None
    # REQUIRE, whatever the model of classes.
    requirements: Refusal | None
    # ENTITY: respondents are counted, and not rows.
    respondents: Refusal | None
    # IDENTIFIER PSEUDONYM and ENTITY PSEUDONYM: tokens are published.
    pseudonyms: Refusal | None
    # MIN LEVEL above 0.
    min_level: Refusal | None
    # MAX LEVEL below the top of the hierarchy.
    max_level: Refusal | None
    # Requirements that compare with a public table.
    public: Refusal | None
    # Requirements about guarding nodes, of which each row has its own.
    guarding: Refusal | None
    # Requirements about several sensitive columns together.
    jointly: Refusal | None
    # Requirements of the classes by some of the quasi-identifiers: on => (column, ...).
    projections: Refusal | None
    # Requirements about the items in lists.
    itemsets: Refusal | None
    # JOINED WITH RELEASE: requirements about what the join with another release tells.
    joined: Refusal | None
    # engine => 'spark': rows lie on another engine than the catalog, and only summaries of them come to it.
    distributed: Refusal | None
    # sqlanon compile: a script that makes the release again from the same table in another warehouse.
    scripted: Refusal | None


def no_confidential() -> Refusal:
    """The refusal of a method that would publish columns together whatever the policy says."""
    return Refusal(
        "{policy}: the method {method} does not know confidentiality constraints, and the policy has "
        "CONFIDENTIAL {set}",
        "leave CONFIDENTIAL out of a policy for {method}, or use METHOD fragments or loose",
    )


def no_distributed(why: str = "METHOD {method} moves rows between temporary tables of DuckDB's") -> Refusal:
    """The refusal of a method that reads rows by what DuckDB alone does with them."""
    return Refusal(f"{why}, so that it does not run with engine => 'spark'", ON_DUCKDB)


def no_script() -> Refusal:
    """The refusal of a method whose steps are not SQL that a warehouse has."""
    return Refusal(
        "it was made by METHOD {method}, whose steps go on in temporary tables of DuckDB's",
        "export the release, and load it there; METHOD generalization, anatomy and fragments can be compiled, and live "
        "views of METHOD mondrian",
    )


def no_series() -> Refusal:
    """The refusal of a method that does not know whose a row is."""
    return Refusal(
        "METHOD {method} counts rows and not respondents, whom a series has to know again",
        "use METHOD generalization, mondrian or m_invariance, or leave IN SERIES out",
    )


def no_columns() -> Refusal:
    """The refusal of a method that does not cut rows into columns of attributes."""
    return Refusal("the method {method} takes no COLUMNS", "use METHOD slicing")


def no_projections() -> Refusal:
    """The refusal of a method whose classes are by all quasi-identifiers."""
    return Refusal(
        "the method {method} cannot meet {requirement}: its classes are by all quasi-identifiers",
        "use METHOD generalization, or leave on out, which requires it of all quasi-identifiers together",
    )


def no_related() -> Refusal:
    """The refusal of a method that publishes the rows of one table."""
    return Refusal(
        "METHOD {method} reads one table, and {policy} has related tables, WITH TABLE {table}",
        "use METHOD generalization, or join the tables in a query, ON (SELECT ...)",
    )


def no_itemsets() -> Refusal:
    """The refusal of a method that recodes lists as wholes, or not at all."""
    return Refusal(
        "METHOD {method} cannot meet {requirement}: it gives the items in lists no labels of their own",
        "use METHOD itemsets",
    )


def no_joined() -> Refusal:
    """The refusal of a method whose rows have no levels by which those of another release could be compared."""
    return Refusal(
        "METHOD {method} cannot meet {requirement}: its search does not look at the join with {other}",
        "use METHOD generalization",
    )


def no_sets() -> Refusal:
    """The refusal of a method that makes no table of its own for each set of columns."""
    return Refusal("the method {method} takes no FRAGMENTS", "use METHOD fragments or loose")
