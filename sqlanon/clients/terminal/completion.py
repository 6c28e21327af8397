"""What the shell offers to complete: statements, keywords, and the names in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from textwrap import fill
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from sqlanon.assess.measure_figures import COMPUTED, figure_names, measured_names
from sqlanon.clients.terminal.method_help import argument_completions, method_completions
from sqlanon.clients.terminal.model_help import MODELS
from sqlanon.methods.registry import METHODS
from sqlanon.sql.questions.statistics import all_shapes, attack_names, load_statistic
from sqlanon.statements.registry import label_of, statements

_ATTACKS = attack_names()


def _wrapped(comment: str) -> str:
    return fill(comment, 100, initial_indent="    -- ", subsequent_indent="    --   ")


def _with_arguments(figure: str) -> str:
    """A figure as it is asked for, with the arguments that it cannot do without."""
    if figure in COMPUTED:
        return figure
    required = [p.name for p in load_statistic("figures", figure).parameters if p.default is None]
    return f"{figure}({', '.join(f'{name} => ...' for name in required)})" if required else figure


# The first words of each of sqlanon's statements, with its form as `.help` shows it.
STATEMENTS: dict[str, str] = {
    "PROFILE": (
        "PROFILE table | (SELECT ...) | 'file' [(column, ...)] [INTO 'script.sql' [(REPLACE true)]];\n"
        "    -- by which columns people could be found, and a policy to begin with"
    ),
    "CREATE HIERARCHY": (
        "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS\n"
        "    INTERVALS (5, 10, 20) | PREFIXES (4, 3, 2) | CALENDAR (MONTH, YEAR, DECADE)\n"
        "    | LEVELS (SELECT value, level_1, ...) | PARENTS (SELECT node, parent ...);\n"
        "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AUTO ON table.column;  -- what fits its values"
    ),
    "DROP HIERARCHY": "DROP HIERARCHY [IF EXISTS] name;",
    "CREATE POLICY": (
        "CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name\n"
        "    ON table | (SELECT ...) | 'file' [PIVOT item VALUES rating] (\n"
        "    column IDENTIFIER [PSEUDONYM | MASK mask],  -- never published\n"
        "    column ENTITY [PSEUDONYM | MASK mask],      -- the respondent: counted instead of rows\n"
        "    column QUASI IDENTIFIER [USING hierarchy] [MIN LEVEL n] [MAX LEVEL n] [WEIGHT w],\n"
        "    column SENSITIVE [USING hierarchy],\n"
        "    column INSENSITIVE\n"
        ") [WITH TABLE table | (SELECT ...) | 'file' [AS name] ON (column of the entity) (column role ..., ...)] ...\n"
        "  [CONFIDENTIAL (column, ...), ...] [VISIBLE (column, ...), ...] [AGAINST table | (SELECT ...)]\n"
        "  [JOINED WITH RELEASE other ON (column, ...)]\n"
        "    REQUIRE k_anonymity(k => 5), l_diversity(l => 3, variant => 'entropy');\n"
        + _wrapped(f"models: {', '.join(MODELS)}; .help l_diversity says what that one takes")
        + "\n"
        + _wrapped("k_anonymity(k => 5, on => (column, ...)): classes by some of the quasi-identifiers alone")
        + "\n"
        + _wrapped(
            "k_anonymity(k => 5, knows => 'rows'): what is known of a person's rows in WITH TABLE; 'one_row', "
            "'m_rows' (and m => 2), 'rows', 'values' or 'history'"
        )
    ),
    "ALTER POLICY": (
        "ALTER POLICY [IF EXISTS] name ADD | ALTER [COLUMN] column role ...\n"
        "    | DROP [COLUMN] column | RENAME TO name | REQUIRE k_anonymity(k => 5), ...;\n"
        "    -- releases keep the policy as it was when they were made"
    ),
    "DESCRIBE POLICY": "DESCRIBE POLICY name;",
    "SHOW": "SHOW POLICIES | HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS;",
    "DROP POLICY": "DROP POLICY [IF EXISTS] name;",
    "CREATE WORKLOAD": (
        "CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY policy\n"
        "    [(queries => 1000, dimensions => 4, selectivity => 0.05, aggregate => 'count', seed => 1)];\n"
        "    -- random queries on the source of the policy"
    ),
    "DROP WORKLOAD": "DROP WORKLOAD [IF EXISTS] name;",
    "EXPLAIN ANONYMIZED": (
        "EXPLAIN [VERBOSE] ANONYMIZED VIEW | TABLE name AS POLICY policy METHOD generalization(suppression => 0.02);\n"
        "    -- a dry run: nothing is written; VERBOSE has each step, the SQL and the fingerprint"
    ),
    "CREATE ANONYMIZED VIEW": (
        "CREATE [OR REPLACE] ANONYMIZED VIEW [IF NOT EXISTS] name AS POLICY policy\n"
        "    [METHOD generalization(suppression => 0.02)];          -- live, guarded"
    ),
    "CREATE ANONYMIZED TABLE": (
        "CREATE [OR REPLACE] ANONYMIZED TABLE [IF NOT EXISTS] name AS POLICY policy\n"
        "    [METHOD method(argument => value, ...)\n"
        "        [FRAGMENTS (column, ...), ... | COLUMNS (column, ...), ... | COLUMNS EACH]]\n"
        "    [LEVELS FROM RELEASE release] [IN SERIES series];      -- a snapshot, verified\n"
        + _wrapped(f"methods: {', '.join(METHODS)}; .help method says what each takes")
    ),
    "REFRESH ANONYMIZED TABLE": (
        "REFRESH ANONYMIZED TABLE release [LEVELS FROM RELEASE release];\n"
        "    -- makes a snapshot anew, by its policy and method and in its series, from what its source is now"
    ),
    "DROP ANONYMIZED VIEW": "DROP ANONYMIZED VIEW [IF EXISTS] name;",
    "DROP ANONYMIZED TABLE": "DROP ANONYMIZED TABLE [IF EXISTS] name;",
    "CREATE SERIES": (
        "CREATE SERIES [IF NOT EXISTS] name ON POLICY policy KEY 'environment variable'\n"
        "    [REQUIRE composition(max => 0.5), m_invariance(m => 3)];\n"
        "    -- releases of one policy that are published one after the other; a ledger knows who was in which class"
    ),
    "CREATE ANONYMIZED STREAM": (
        "CREATE ANONYMIZED STREAM [IF NOT EXISTS] name AS POLICY policy ORDER BY column\n"
        "    METHOD stream(k => 5, delay => 1000 | INTERVAL '10 minutes' [, reuse => true]);\n"
        "    -- rows of a table that grows, published in classes before their delay is over"
    ),
    "ADVANCE": (
        "ADVANCE stream [TO END | TO 'moment'];\n"
        "    -- reads what has arrived, and publishes what is due; TO END publishes all that waits"
    ),
    "DROP ANONYMIZED STREAM": "DROP ANONYMIZED STREAM [IF EXISTS] name;     -- with what it has published",
    "DROP SERIES": "DROP SERIES [IF EXISTS] name;                -- erases its ledger; the releases stay",
    "CHECK": (
        "CHECK release;\n"
        "CHECK release IN SERIES series;               -- what the releases of the series tell together\n"
        "CHECK release JOINED WITH RELEASE other ON (column, ...)\n"
        "    REQUIRE xy_anonymity(x => (column, ...), y => column, k => 2), xy_linkability(..., max => 0.5);\n"
        "CHECK table | (SELECT ...) | 'file' (column, ...) [SENSITIVE column [USING hierarchy], ...] [AGAINST table]\n"
        "    [REQUIRE k_anonymity(k => 5 [, on => (column, ...)]), ...];\n"
        "CHECK 'folder, data file or certificate of an export';\n"
        "    -- what is achieved; without REQUIRE, every model's figure and the risks of linkage"
    ),
    "ESTIMATE": (
        "ESTIMATE SELECT count(*) FROM source WHERE ... [GROUP BY ...] FROM RELEASE release | 'file'\n"
        "    [MARGINALS (column => table, ...)];\n"
        "    -- the answer of a query on the source, estimated from the release alone"
    ),
    "MEASURE": (
        "MEASURE release WITH WORKLOAD workload;\n"
        "    -- how far the answers of a release are from those of its source\n"
        "MEASURE release WITH TASK (target => column [, using => (column, ...)]\n"
        "    [, models => ('tree', 'forest', 'bayes')] [, folds => 10] [, seed => 1]);\n"
        "    -- how well the column is learned from it\n"
        "MEASURE release WITH TASK (kind => 'ratings', rank => 10 [, seed => 1]);\n"
        "    -- how well it predicts ratings\n"
        "MEASURE release [[WITH WORKLOAD workload] WITH FIGURES (p_loss(above => 0.3), ...)];\n"
        + _wrapped("figures: " + ", ".join(map(_with_arguments, measured_names())))
        + "\n"
        + _wrapped(
            f"not of a release: {', '.join(sorted({*figure_names()} - {*measured_names()}))}; "
            "CHECK release (column, ...) AGAINST table has it"
        )
    ),
    "ATTACK": (
        "ATTACK release | 'export' | table (column, ...) [SENSITIVE column [USING hierarchy], ...]\n"
        "    WITH attack [(argument => value, ...)];\n"
        + _wrapped("attacks: " + ", ".join(all_shapes()) + "; what an adversary learns, the owner's to know")
    ),
    "FRONTIER": (
        "FRONTIER name ON POLICY policy METHODS (method [(argument => value, ...)], ...)\n"
        "    [SWEEP k IN (5, 10), l IN (2, 3), ...] MEASURE p_loss(above => 0.3), gain, ... [, WORKLOAD workload];\n"
        "    -- makes and measures every candidate and publishes none; ADVISE chooses among them"
    ),
    "ADVISE": (
        "ADVISE frontier [WHERE p_loss <= 0.1 [AND ...]] LEAST gain | WORKLOAD workload;\n"
        "    -- prints the statements that publish the choice"
    ),
    "DROP FRONTIER": "DROP FRONTIER [IF EXISTS] name;",
    "EXPORT": (
        "EXPORT release TO 'path' [(FORMAT parquet | csv | duckdb | arrow | sqlite, DELIMITER ';', QUOTE '\"',\n"
        "    PARTITION_BY (column, ...), TEXT true, DICTIONARY true, REPLACE true,\n"
        "    REPORT true)];  -- a suffix is a format, too; a folder gets Parquet\n"
        "EXPORT release TO 'postgresql://host/database?schema=name' [(REPLACE true)];"
    ),
}


def _forms_of_others() -> Iterator[tuple[str, str]]:
    """The openings of statements that have no form above, each with examples and the meaning of the statement."""
    for statement in statements():
        for opening in map(label_of, statement.OPENINGS):
            if not any(name.startswith(opening) or opening.startswith(name) for name in STATEMENTS):
                meaning = " ".join((statement.__doc__ or "").partition("\n\n")[0].split())
                examples = "\n".join(f"{example};" for example in statement.EXAMPLES)
                yield opening, f"{examples}\n{_wrapped(meaning)}"


STATEMENTS |= dict(_forms_of_others())

# Statements whose forms are shown together.
RELATED: dict[str, tuple[str, ...]] = {"FRONTIER": ("ADVISE",), "ADVISE": ("FRONTIER",)}

# The words that occur within statements.
_CLAUSES = """
    OR REPLACE IF NOT EXISTS AS ON USING INTERVALS PREFIXES CALENDAR LEVELS PARENTS IDENTIFIER PSEUDONYM MASK KEY
    ENTITY QUASI SENSITIVE INSENSITIVE MIN MAX LEVEL WEIGHT CONFIDENTIAL VISIBLE PIVOT AGAINST JOINED WITH REQUIRE
    METHOD FRAGMENTS COLUMNS EACH FORMAT RELEASE MARGINALS WORKLOAD FIGURES attribute jointly variant distance ranges
    guarding absent METHODS SWEEP IN MEASURE LEAST knows
    parquet csv duckdb arrow sqlite DELIMITER QUOTE PARTITION_BY TEXT DICTIONARY
    ALTER ADD COLUMN RENAME TO SHOW POLICIES HIERARCHIES RELEASES WORKLOADS FRONTIERS SERIES
    STREAM STREAMS BY END INTERVAL delay reuse
    SELECT FROM WHERE GROUP BY ORDER LIMIT INSERT INTO VALUES DELETE UPDATE SET TABLE DESCRIBE
""".split()
_WORD = re.compile(r'"[^"]*$|(?<!\w)\w++$')
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_BEFORE_STATEMENT = re.compile(r"(?:^|;)\s*+([\w ]*+)$")
_NAMES = """
    SELECT DISTINCT name FROM (
        SELECT table_name AS name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema')
        UNION ALL
        SELECT column_name FROM information_schema.columns WHERE table_schema NOT IN ('information_schema')
    ) AS names ORDER BY name ASC NULLS LAST
"""


def database_names(connection: Any) -> list[str]:
    """The names of all tables, views and columns; an empty list if they cannot be read, as in a failed transaction."""
    try:
        return [str(row[0]) for row in connection.execute(_NAMES).fetchall()]
    except Exception:
        # A completion that fails must not end what the user types.
        return []


def quoted(name: str) -> str:
    """The name as it must be typed: in quotes unless it is a plain word in lower case."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


class StatementCompleter(Completer):
    """Completes the first words of sqlanon's statements, keywords, and the names that `names` returns each time."""

    def __init__(self, keywords: Iterable[str], names: Callable[[], list[str]]) -> None:
        self._keywords = sorted(
            {word for keyword in keywords for word in keyword.split()}
            | {*_CLAUSES, *MODELS, *METHODS, *figure_names(), *_ATTACKS}
        )
        self._names = names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.lstrip().startswith("."):
            yield from _starting(before.lstrip(), (".help", ".tables", ".quit"))
            return
        among = argument_completions(before)
        if among is not None:
            yield from among
            return
        offered: set[str] = set()
        for completion in (*self._statement(before), *method_completions(before), *self._words(before)):
            if completion.text.strip() not in offered:
                offered.add(completion.text.strip())
                yield completion

    def _statement(self, before: str) -> Iterator[Completion]:
        """The first words of a statement, such as CREATE ANONYMIZED VIEW after `create an`."""
        match = _BEFORE_STATEMENT.search(before)
        if match and match.group(1).strip():
            yield from _starting(match.group(1), STATEMENTS)

    def _words(self, before: str) -> Iterator[Completion]:
        match = _WORD.search(before)
        if not match:
            return
        typed = match.group()
        if not typed.startswith('"'):
            yield from _starting(typed, self._keywords)
        plain = typed.lstrip('"').lower()
        for name in self._names():
            if name.lower().startswith(plain):
                yield Completion(quoted(name), start_position=-len(typed))


def _starting(typed: str, candidates: Iterable[str]) -> Iterator[Completion]:
    for candidate in candidates:
        if candidate.upper().startswith(typed.upper()) and candidate.upper() != typed.upper():
            yield Completion(candidate, start_position=-len(typed))
