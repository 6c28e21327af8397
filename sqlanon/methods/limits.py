"""The abilities of a method. Each is refused with a sentence unless the method declares it."""

from __future__ import annotations

from dataclasses import dataclass

ON_DUCKDB = "make it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)"


@dataclass(frozen=True)
class Refusal:
    """The reason why a method cannot do something, and what to do instead.

    Both may contain placeholders: {policy} and {method}, and {column}, {level}, {requirement} or {set} for an ability
    that concerns one.
    """

    sentence: str
    hint: str


# The value of an ability that a method has.
CAN = None


@dataclass(frozen=True)
class Limits:
    """The abilities of a method: CAN, or the sentence that refuses what a statement or its policy asks for.

    Each ability is refused by default, so a method has no ability that it does not declare. A method passes its own
    sentence only if that is more specific. A statement is checked against the fields in their order; the first refusal
    ends the check.
    """

    # WITH TABLE: several tables about the same respondents.
    related: Refusal | None = Refusal(
        "METHOD {method} reads one table, and {policy} has related tables, WITH TABLE {table}",
        "use METHOD multirelational, or join the tables in a query, ON (SELECT ...)",
    )
    # A policy on one table.
    without_related: Refusal | None = Refusal(
        "METHOD {method} is about several tables, and {policy} has one",
        "use METHOD generalization, or name the tables that belong to it: WITH TABLE visits ON (patient) (...)",
    )
    # A live view, which makes the release again at each query.
    view: Refusal | None = Refusal("METHOD {method} makes no live views", "make a snapshot, CREATE ANONYMIZED TABLE")
    # IN SERIES: the classes of respondents are remembered, and releases are checked together.
    series: Refusal | None = Refusal(
        "METHOD {method} counts rows and not respondents, whom a series has to know again",
        "use METHOD generalization, mondrian or m_invariance, or leave IN SERIES out",
    )
    # A release in no series.
    without_series: Refusal | None = Refusal(
        "METHOD {method} makes releases of a series alone",
        "begin one, CREATE SERIES name ON POLICY policy KEY 'variable', and write IN SERIES name behind the method",
    )
    # A policy without CONFIDENTIAL sets.
    unconstrained: Refusal | None = Refusal(
        "{policy}: nothing is CONFIDENTIAL, so that METHOD {method} has nothing to keep apart",
        "say what must not be seen together: CONFIDENTIAL (zip, disease)",
    )
    # A policy with CONFIDENTIAL sets: columns that must not be seen together.
    confidential: Refusal | None = Refusal(
        "{policy}: the method {method} does not know confidentiality constraints, and the policy has "
        "CONFIDENTIAL {set}",
        "leave CONFIDENTIAL out of a policy for {method}, or use METHOD fragments or loose",
    )
    # FRAGMENTS (column, ...), ...: the columns of each table.
    sets: Refusal | None = Refusal("the method {method} takes no FRAGMENTS", "use METHOD fragments or loose")
    # COLUMNS (column, ...), ... or COLUMNS EACH: the attributes whose values stay together within a bucket.
    columns: Refusal | None = Refusal("the method {method} takes no COLUMNS", "use METHOD slicing")
    # REQUIRE, whatever the model of classes.
    requirements: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it makes no classes of rows",
        "leave REQUIRE out, or use METHOD generalization",
    )
    # SHIFT: the respondent of each row has to be known.
    shifts: Refusal | None = Refusal(
        "{policy}: METHOD {method} shifts no dates, and {column} has SHIFT",
        "leave SHIFT out, or use METHOD generalization",
    )
    # ENTITY: respondents are counted, and not rows.
    respondents: Refusal | None = Refusal(
        "METHOD {method} counts rows and not respondents",
        "leave out the ENTITY, and give each respondent one row in the source, ON (SELECT ...)",
    )
    # IDENTIFIER PSEUDONYM and ENTITY PSEUDONYM: tokens are published.
    pseudonyms: Refusal | None = Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one", "leave {clause} out"
    )
    # MIN LEVEL above 0.
    min_level: Refusal | None = Refusal(
        "METHOD {method} publishes {column} as it is, and the policy says MIN LEVEL {level}",
        "leave MIN LEVEL out, or use METHOD generalization",
    )
    # SENSITIVE with MIN LEVEL or HIDE: labels are read in place of values.
    labels: Refusal | None = Refusal(
        "METHOD {method} takes no labels of {column} in place of its values",
        "leave MIN LEVEL and HIDE out, or use METHOD generalization",
    )
    # MAX LEVEL below the top of the hierarchy.
    max_level: Refusal | None = Refusal(
        "METHOD {method} keeps no MAX LEVEL, and the policy says MAX LEVEL {level} of {column}",
        "leave MAX LEVEL out, or use METHOD generalization",
    )
    # Requirements that compare with a public table.
    public: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it compares with a public table, and the quasi-identifiers are "
        "published as they are",
        "use METHOD generalization",
    )
    # Requirements about guarding nodes, which each row has for itself.
    guarding: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: guarding nodes belong to single rows, and nobody may know "
        "which value a row has",
        "use METHOD generalization",
    )
    # Requirements that estimate the risk in the population that the source is a sample of.
    samples: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it estimates how many people look alike, and the method makes no "
        "classes of rows that do",
        "use METHOD generalization or mondrian",
    )
    # Requirements about several sensitive columns together.
    jointly: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it asks each sensitive attribute by itself",
        "leave out jointly, and it is asked of each by itself",
    )
    # Requirements of the classes by some of the quasi-identifiers: on => (column, ...).
    projections: Refusal | None = Refusal(
        "the method {method} cannot meet {requirement}: its classes are by all quasi-identifiers",
        "use METHOD generalization, or leave on out, which requires it of all quasi-identifiers together",
    )
    # Requirements that judge a class by all classes of a release together.
    whole: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it makes classes one by one, and this is about all classes of a "
        "release together",
        "use METHOD generalization with recoding => 'global'",
    )
    # Requirements that compare a class with classes of broader labels.
    broader: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it compares a class with those of broader labels, and its classes "
        "have no one level",
        "use METHOD generalization with recoding => 'global'",
    )
    # Requirements about the items of lists.
    itemsets: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: it gives the items in lists no labels of their own",
        "use METHOD itemsets",
    )
    # JOINED WITH RELEASE: requirements about the join with another release.
    joined: Refusal | None = Refusal(
        "METHOD {method} cannot meet {requirement}: its search does not look at the join with {other}",
        "use METHOD generalization",
    )
    # engine => 'spark': the rows are on another engine than the catalog, which reads only summaries of them.
    on_spark: Refusal | None = Refusal(
        "METHOD {method} moves rows between temporary tables of DuckDB's, so it does not run with engine => 'spark'",
        ON_DUCKDB,
    )
    # sqlanon compile: a script that makes the release again from the same table in another warehouse.
    scripted: Refusal | None = Refusal(
        "it was made by METHOD {method}, whose steps go on in temporary tables of DuckDB's",
        "export the release, and load it there; METHOD generalization, anatomy and fragments can be compiled, and live "
        "views of METHOD mondrian",
    )


# The limits of a method that makes random buckets of rows, whose sensitive values are separated or shuffled.
OF_BUCKETS = Limits(
    labels=CAN,
    without_related=CAN,
    view=Refusal("a live view cannot draw the same buckets twice", "make a snapshot, CREATE ANONYMIZED TABLE"),
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    # Methods with these limits call `require_one_row_each`.
    respondents=CAN,
    min_level=Refusal(
        "{method} publishes {column} as it is, and the policy says MIN LEVEL {level}",
        "leave MIN LEVEL out, or use METHOD generalization",
    ),
    max_level=CAN,
    public=Refusal(
        "{method} cannot meet {requirement}: it compares with a public table, and the quasi-identifiers are "
        "published as they are",
        "use METHOD generalization",
    ),
    guarding=Refusal(
        "{method} cannot meet {requirement}: guarding nodes belong to single rows, and nobody may know which "
        "value a row has",
        "use METHOD generalization",
    ),
    on_spark=CAN,
)


def only_on_duckdb(why: str) -> Refusal:
    """The refusal of engine => 'spark', for a reason that the method gives."""
    return Refusal(f"{why}, so it does not run with engine => 'spark'", ON_DUCKDB)
