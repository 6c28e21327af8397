"""A file with live views of many models and types, and everything that a reader's session is asked there.

The rows are few, and what a setting could get wrong is among them: texts that differ in case, accents and
punctuation, values below zero, NULLs, moments whose text has no time zone.
"""

from __future__ import annotations

import sqlanon

SOURCE = """
CREATE TABLE people AS SELECT
    i AS person,
    ['Ulm', 'ulm', 'Úlm', 'U-lm', NULL][1 + i % 5] AS town,
    -40 + 7 * (i % 12) AS age,
    CAST(-3.5 + 0.75 * (i % 10) AS DECIMAL(9, 2)) AS debt,
    (i % 7) / 4.0::DOUBLE - 1 AS score,
    DATE '1999-12-27' + CAST(3 * (i % 9) AS INTEGER) AS born,
    TIMESTAMP '2020-02-28 22:30:00' + INTERVAL 1 HOUR * (i % 4) AS seen,
    TIMESTAMPTZ '2020-03-01 00:00:00+00' + INTERVAL 1 HOUR * (i % 3) AS moment,
    CAST(['flu', 'Flu', 'cold'][1 + i % 3] AS ENUM ('flu', 'Flu', 'cold')) AS kind,
    [['Ulm'], ['ulm'], ['Bonn', 'ulm']][1 + i % 3] AS towns,
    {'town': ['Ulm', 'ulm'][1 + i % 2], 'n': i % 2} AS place,
    ['u-1', 'U-1', 'u-2', 'u-3'][1 + i % 4] || CAST(i // 8 AS VARCHAR) AS respondent,
    CASE WHEN i % 6 = 0 THEN NULL ELSE i * i % 11 - 5 END AS disorder,
    ['HIV', 'hiv', 'Flu', 'cold', NULL][1 + (i * i + i // 7) % 5] AS disease,
    ['Virus', 'HIV', NULL][1 + i % 3] AS wish
FROM range(72) AS t(i);
-- Alone in each of their classes, and with values that nobody else has.
INSERT INTO people VALUES
    (900, 'ULM', 90071, 9007.5, 90.25, '2090-07-01', '2090-07-01 12:00:00', '2090-07-01 12:00:00+00', 'cold',
     ['SECRET'], {'town': 'SECRET', 'n': 90}, 'SECRET', 9007, 'SECRET', 'SECRET'),
    (901, 'u lm', -90071, -9007.5, -90.25, '1890-07-01', '1890-07-01 12:00:00', '1890-07-01 12:00:00+00', 'flu',
     ['secret'], {'town': 'secret', 'n': 91}, 'secret', -9007, 'secret', 'secret');
CREATE TABLE voters AS SELECT town, age FROM people UNION ALL SELECT town, age FROM people WHERE person % 2 = 0;
CREATE TABLE shares AS
FROM (VALUES ('HIV', 0.0, 0.6), ('hiv', 0.0, 0.6), (NULL, NULL, 0.7)) AS t(value, low, high);
CREATE TABLE hours AS SELECT strftime(moment AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') AS text, n % 2 AS half
FROM (SELECT DISTINCT moment, dense_rank() OVER (ORDER BY moment) AS n FROM people WHERE person < 900);
CREATE VIEW numbered AS
SELECT town, age / nullif(age % 3, 0) AS ratio, row_number() OVER (ORDER BY person) % 3 AS number,
    CAST(moment AS DATE) AS day, disease
FROM people;
"""
HIERARCHIES = """
CREATE HIERARCHY tens AS INTERVALS (10, 50);
CREATE HIERARCHY halves AS INTERVALS (0.5, 2);
CREATE HIERARCHY prefixes AS PREFIXES (2, 1);
CREATE HIERARCHY weeks AS CALENDAR (DAY, WEEK);
CREATE HIERARCHY months AS CALENDAR (HOUR, DAY, MONTH);
CREATE HIERARCHY towns AS LEVELS (SELECT DISTINCT town, CASE WHEN town = 'Ulm' THEN 'City' WHEN person < 900 THEN 'city'
    ELSE 'CITY' END FROM people);
CREATE HIERARCHY halfhours AS LEVELS (SELECT text, half FROM hours UNION ALL SELECT '2090-07-01 12:00:00', 90
    UNION ALL SELECT '1890-07-01 12:00:00', 91);
CREATE HIERARCHY diseases AS PARENTS (SELECT * FROM (VALUES
    ('HIV', 'Virus'), ('hiv', 'virus'), ('Flu', 'Virus'), ('cold', 'virus'), ('SECRET', 'Virus'), ('secret', 'virus'),
    ('Virus', NULL), ('virus', NULL)) AS t(child, parent));
"""
# Of people, with the two that are alone.
ROWS = 74
_DISEASE = "disease SENSITIVE USING diseases"
_TOWN = "town QUASI IDENTIFIER MAX LEVEL 0"
_AGE = "age QUASI IDENTIFIER USING tens MIN LEVEL 2 MAX LEVEL 2"
_K = "k_anonymity(k => 5)"
# What each view publishes, its requirements, and how it is made where that is not by generalization.
VIEWS: dict[str, tuple[str, str, str]] = {
    "text": (_TOWN, _K, ""),
    "listed": ("town QUASI IDENTIFIER USING towns MIN LEVEL 1 MAX LEVEL 1", _K, ""),
    "numbers": (
        "age QUASI IDENTIFIER USING tens MIN LEVEL 1 MAX LEVEL 1, debt QUASI IDENTIFIER USING halves MIN LEVEL 2 "
        "MAX LEVEL 2, score QUASI IDENTIFIER USING halves MIN LEVEL 2 MAX LEVEL 2",
        "k_anonymity(k => 2)",
        "",
    ),
    "days": (
        "born QUASI IDENTIFIER USING weeks MIN LEVEL 2 MAX LEVEL 2, seen QUASI IDENTIFIER USING months MIN LEVEL 2 "
        "MAX LEVEL 2",
        _K,
        "",
    ),
    "moments": ("moment QUASI IDENTIFIER MAX LEVEL 0", _K, ""),
    "listed moments": ("moment QUASI IDENTIFIER USING halfhours MIN LEVEL 1 MAX LEVEL 1, disease INSENSITIVE", _K, ""),
    "nested": ("towns QUASI IDENTIFIER MAX LEVEL 0, place QUASI IDENTIFIER MAX LEVEL 0", _K, ""),
    "words": (f"{_TOWN}, kind SENSITIVE", "l_diversity(l => 3)", ""),
    "respondents": (f"respondent ENTITY, {_TOWN}", "k_anonymity(k => 8)", ""),
    "ordered": (f"{_TOWN}, disorder SENSITIVE", "t_closeness(t => 0.12, distance => 'ordered')", ""),
    "judged by all": (
        f"{_TOWN}, {_DISEASE}",
        "t_closeness(t => 0.25), t_closeness(t => 0.3, distance => 'hierarchical'), beta_likeness(beta => 3)",
        "",
    ),
    "judged alone": (
        f"{_AGE}, {_DISEASE}",
        "l_diversity(l => 2, variant => 'entropy'), l_diversity(l => 2, c => 3, variant => 'recursive'), "
        "value_ranges(ranges => shares), alpha_k_anonymity(alpha => 0.6, k => 4)",
        "",
    ),
    "wished": (f"{_AGE}, {_DISEASE}", "personalized(p => 0.9, guarding => wish)", ""),
    "among voters": (f"{_TOWN}", "k_map(k => 20), delta_presence(min => 0, max => 0.8)", ""),
    "local": (
        "town QUASI IDENTIFIER USING prefixes, age QUASI IDENTIFIER USING tens MIN LEVEL 3, disease SENSITIVE",
        "k_anonymity(k => 8), l_diversity(l => 2)",
        "METHOD generalization(suppression => 1, recoding => 'local')",
    ),
    "regions": ("age QUASI IDENTIFIER, born QUASI IDENTIFIER, disease SENSITIVE", _K, "METHOD mondrian"),
    "region trees": (
        "town QUASI IDENTIFIER USING towns, score QUASI IDENTIFIER",
        "k_anonymity(k => 10)",
        "METHOD mondrian(publish => 'ancestor', hierarchy => 'tree')",
    ),
}
# Views whose source is a query, or a view, of the user's: what these mean depends on the session.
QUERIES: dict[str, tuple[str, str]] = {
    "own query": (
        "(SELECT age // 10 AS decade, row_number() OVER (ORDER BY disorder) % 3 AS number, "
        "(SELECT max(town) FROM people) AS last FROM people)",
        "decade QUASI IDENTIFIER MAX LEVEL 0, number QUASI IDENTIFIER MAX LEVEL 0, last INSENSITIVE",
    ),
    "own view": (
        "numbered",
        "number QUASI IDENTIFIER MAX LEVEL 0, day QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE",
    ),
}
# What is read of each view: a moment as a number, for Python would show it in the session's time zone.
READS = {name: "SELECT epoch_us(moment)" if name == "moments" else "SELECT *" for name in (*VIEWS, *QUERIES)}
# A call of each macro, with a verdict.
_OF_PEOPLE = "'people', ['town']"
MACROS = {
    "k_anonymity": f"anon.k_anonymity({_OF_PEOPLE}, k => 5)",
    "distinct": f"anon.l_diversity({_OF_PEOPLE}, 'disease', l => 3)",
    "entropy": f"anon.l_diversity({_OF_PEOPLE}, 'disease', l => 2.5, variant => 'entropy')",
    "recursive": f"anon.l_diversity({_OF_PEOPLE}, 'disease', l => 2, c => 2, variant => 'recursive')",
    "probabilistic": f"anon.l_diversity({_OF_PEOPLE}, 'disease', l => 2, variant => 'probabilistic')",
    "equal": f"anon.t_closeness({_OF_PEOPLE}, 'disease', t => 0.2)",
    "ordered": f"anon.t_closeness({_OF_PEOPLE}, 'disorder', t => 0.1, distance => 'ordered')",
    "jensen_shannon": f"anon.t_closeness({_OF_PEOPLE}, 'disease', t => 0.2, distance => 'jensen_shannon')",
    "hierarchical": f"anon.t_closeness({_OF_PEOPLE}, 'disease', t => 0.2, distance => 'hierarchical', "
    "hierarchy => 'diseases')",
    "delta": f"anon.delta_disclosure({_OF_PEOPLE}, 'disease', delta => 1)",
    "beta": f"anon.beta_likeness({_OF_PEOPLE}, 'disease', beta => 1)",
    "enhanced": f"anon.beta_likeness({_OF_PEOPLE}, 'disease', beta => 1, variant => 'enhanced')",
    "alpha_k": f"anon.alpha_k_anonymity({_OF_PEOPLE}, 'disease', alpha => 0.5, k => 4)",
    "p_sensitive": f"anon.p_sensitive_k_anonymity({_OF_PEOPLE}, 'disease', p => 2, k => 4)",
    "value_ranges": f"anon.value_ranges({_OF_PEOPLE}, 'disease', ranges => 'shares')",
    "personalized": f"anon.personalized({_OF_PEOPLE}, 'disease', p => 0.8, guarding => 'wish', "
    "hierarchy => 'diseases')",
    "k_map": f"anon.k_map({_OF_PEOPLE}, k => 20, against => 'voters')",
    "delta_presence": f"anon.delta_presence({_OF_PEOPLE}, min => 0, max => 0.8, against => 'voters')",
}
# The same of CHECK, of a table and of a view.
CHECKS = {
    "people": "CHECK people (town) SENSITIVE disease USING diseases, disorder "
    "REQUIRE k_anonymity(k => 5), l_diversity(l => 3, attribute => disease), "
    "t_closeness(t => 0.1, distance => 'ordered', attribute => disorder), "
    "t_closeness(t => 0.2, distance => 'hierarchical', attribute => disease), "
    "t_closeness(t => 0.2, distance => 'jensen_shannon', attribute => disease), "
    "delta_disclosure(delta => 1, attribute => disease)",
    "live": 'CHECK "view ordered"',
}


def make(path: str) -> None:
    """Writes the file."""
    con = sqlanon.connect(path)
    con.execute("SET TimeZone = 'UTC'")
    con.duckdb.execute(SOURCE)
    con.execute(HIERARCHIES)
    for name, (attributes, requirements, method) in VIEWS.items():
        against = "AGAINST voters " if "k_map" in requirements else ""
        _view(con, name, "people", attributes, f"{against}REQUIRE {requirements}", method)
    for name, (source, attributes) in QUERIES.items():
        _view(con, name, source, attributes, f"REQUIRE {_K}", "")
    con.close()


def _view(con: sqlanon.Connection, name: str, source: str, attributes: str, required: str, method: str) -> None:
    con.execute(f'CREATE POLICY "policy {name}" ON {source} ({attributes}) {required}')
    method = method or "METHOD generalization(suppression => 1)"
    con.execute(f'CREATE ANONYMIZED VIEW "view {name}" AS POLICY "policy {name}" {method}')


if __name__ == "__main__":
    import sys
    import time

    begun = time.time()
    make(sys.argv[1])
    print(time.time() - begun)
