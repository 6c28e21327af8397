"""Completes the input of the shell: statements, keywords, and the names in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from textwrap import fill
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from sqlanon.assess.measure_figures import COMPUTED, figure_names, measured_names
from sqlanon.domain.values import written
from sqlanon.export.report.risks import meanings_of
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.methods.shared.arguments import Argument, Kind, arguments_of
from sqlanon.republication.streams.columns import METHOD as STREAM
from sqlanon.republication.streams.columns import Options as StreamOptions
from sqlanon.sql.questions.load import Parameter, Question, model_names, questions_of
from sqlanon.sql.questions.statistics import all_shapes, attack_names, load_statistic, statistic_names
from sqlanon.statements.registry import label_of, statements

# The shell's help on methods: their arguments, while a user types them and in `.help method`.


_NAMED = re.compile(r"\bMETHOD\s+(\w*)$", re.IGNORECASE)
_OF_STREAM = re.compile(r"\bANONYMIZED\s+STREAM\b", re.IGNORECASE)
_OPENED = re.compile(r"\bMETHOD\s+(\w+)\s*\((.*)$", re.IGNORECASE | re.DOTALL)


def method_completions(before: str) -> Iterator[Completion]:
    """Yields the methods that begin with the word after METHOD."""
    if named := _NAMED.search(before):
        fitting = (STREAM,) if _OF_STREAM.search(_last_statement(before)) else METHODS
        yield from _beginning(named.group(1), dict.fromkeys(fitting, ""))


def argument_completions(before: str) -> list[Completion] | None:
    """Completes the arguments of a method: names with their help, or the values that an argument takes.

    Returns None if the text does not end within a method's arguments, or if the name of a column follows.
    """
    opened = _OPENED.search(_last_statement(before))
    options = _options_of(opened.group(1)) if opened else None
    if opened is None or options is None:
        return None
    pieces = _pieces(opened.group(2))
    if pieces is None:
        return None
    known = arguments_of(options)
    *written, last = pieces
    name, arrow, value = (part.strip() for part in last.partition("=>"))
    if not arrow:
        names = {piece.partition("=>")[0].strip().lower() for piece in written}
        left = {f"{other} => ": argument.help for other, argument in known.items() if other not in names}
        return list(_beginning(name, left))
    about = known.get(name.lower())
    if about is None or about.kind is Kind.COLUMN:
        return None
    return list(_beginning(value, dict.fromkeys(_values(about), about.takes)))


def _last_statement(before: str) -> str:
    """Returns the text after the last semicolon."""
    return before.rpartition(";")[2]


def methods_described() -> str:
    """Describes each method as `method_described` does."""
    return "\n".join(map(method_described, [*METHODS, STREAM]))


def method_described(name: str) -> str:
    """Describes a method: its arguments, each with its type, its default and a line of help."""
    options = _options_of(name)
    return f"METHOD {name}{_described(options) if options else ''}"


def _options_of(name: str) -> type[Any] | None:
    """Returns the options class of a method, of releases or of streams; None for an unknown name."""
    if name.lower() == STREAM:
        return StreamOptions
    return find_method(name).OPTIONS if name.lower() in METHODS else None


def _described(options: type[Any]) -> str:
    known = arguments_of(options)
    defaults = {field.name: field.default for field in fields(options)}
    if not known:
        return ""
    lines = [
        fill(
            f"{other} => {about.takes}{_default(defaults[other])}: {about.help}",
            100,
            initial_indent="    ",
            subsequent_indent="        ",
        )
        for other, about in known.items()
    ]
    return f"({', '.join(known)})\n" + "\n".join(lines)


def _default(value: Any) -> str:
    if value is MISSING:
        return " (always given)"
    return "" if value in (None, ()) else f" (by default {written(value)})"


def _pieces(inside: str) -> list[str] | None:
    """Splits the text between the parentheses of an open call at its commas; None if the call is closed."""
    depth, begun, pieces = 1, 0, []
    for at, character in enumerate(inside):
        depth += (character == "(") - (character == ")")
        if not depth:
            return None
        if character == "," and depth == 1:
            pieces.append(inside[begun:at])
            begun = at + 1
    return [*pieces, inside[begun:]]


def _values(about: Argument) -> list[str]:
    if about.kind is Kind.FLAG:
        return ["true", "false"]
    return [written(choice) for choice in about.choices]


def _beginning(typed: str, candidates: dict[str, str]) -> Iterator[Completion]:
    for candidate, meaning in candidates.items():
        if candidate.lower().startswith(typed.lower()) and candidate.strip() != typed:
            yield Completion(candidate, start_position=-len(typed), display_meta=meaning)


# The shell's help on privacy models, figures and attacks: their meaning and their arguments.


MODELS = (*model_names(), *model_names("itemsets"))


def model_described(name: str) -> str:
    """Describes each variant of a model: the requirement, its arguments, and a line about each argument."""
    return "\n".join(map(_described_model_help, questions_of(name)))


def models_described() -> str:
    """Describes every model as `model_described` does."""
    return "\n".join(map(model_described, MODELS))


def figure_described(name: str) -> str:
    """Describes what a name after WITH FIGURES measures: its arguments and the meaning of each figure."""
    parameters = () if name in COMPUTED else load_statistic("figures", name).parameters
    columns = (name,) if name in COMPUTED else load_statistic("figures", name).columns
    arguments = f"({', '.join(parameter.name for parameter in parameters)})" if parameters else ""
    meanings = [f"{', '.join(names)}: {meaning}" for names, meaning in meanings_of(columns)]
    return "\n".join(
        [f"WITH FIGURES ({name}{arguments})", *map(_wrapped_model_help, [*meanings, *map(_argument, parameters)])]
    )


def figures_described() -> str:
    """Describes every figure as `figure_described` does."""
    return "\n".join(map(figure_described, figure_names()))


def attack_described(name: str) -> str:
    """Describes an attack in each of its forms: the adversary's knowledge and actions, and the arguments."""
    parts = [load_statistic("attacks", file) for file in statistic_names("attacks")]
    forms = [part for part in parts if part.model == name]
    parameters = {parameter.name: parameter for part in forms for parameter in part.parameters}
    arguments = f"({', '.join(parameters)})" if parameters else ""
    lines = [*dict.fromkeys(part.title for part in forms), *map(_argument, parameters.values())]
    return "\n".join([f"WITH {name}{arguments}", *map(_wrapped_model_help, lines)])


def attacks_described() -> str:
    """Describes every attack as `attack_described` does."""
    return "\n".join(map(attack_described, attack_names()))


def _described_model_help(question: Question) -> str:
    arguments = ", ".join(parameter.name for parameter in question.parameters)
    lines = [question.title, *map(_argument, question.parameters)]
    if question.when:
        chosen = f", {question.when.argument} => {written(question.when.value)}"
        arguments += f" [{chosen}]" if question.when.default else chosen
    if question.of_sensitive_values:
        lines.append("attribute => column: the sensitive column to check, if the policy has several")
    if question.of_sensitive_values and question.joint:
        lines.append("jointly => true: checks all sensitive columns at once, instead of each by itself")
    if question.of_some_columns:
        lines.append("on => (column, ...): the quasi-identifiers by which classes are told apart; by default all")
    if question.of_related_tables:
        lines.append("knows => 'values': what is known of a person's rows in related tables (WITH TABLE)")
    return "\n".join([f"REQUIRE {question.model}({arguments})", *map(_wrapped_model_help, lines)])


def _argument(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f"; by default {written(parameter.default)}"
    return f"{parameter.name} => {parameter.meaning}{default}"


def _wrapped_model_help(line: str) -> str:
    return fill(line, 100, initial_indent="    ", subsequent_indent="        ")


_ATTACKS = attack_names()


def _wrapped(comment: str) -> str:
    return fill(comment, 100, initial_indent="    -- ", subsequent_indent="    --   ")


def _with_arguments(figure: str) -> str:
    """Formats a figure with its required arguments."""
    if figure in COMPUTED:
        return figure
    required = [p.name for p in load_statistic("figures", figure).parameters if p.default is None]
    return f"{figure}({', '.join(f'{name} => ...' for name in required)})" if required else figure


# The first words of each of sqlanon's statements, and its form, which `.help` shows.
STATEMENTS: dict[str, str] = {
    "PROFILE": (
        "PROFILE table | (SELECT ...) | 'file' [(column, ...)] [INTO 'script.sql' [(REPLACE true)]];\n"
        "    -- by which columns people could be found, and a policy to begin with"
    ),
    "CREATE HIERARCHY": (
        "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS\n"
        "    INTERVALS (5, 10, 20) | INTERVALS (ends, 5, high => 90, above => 'old')\n"
        "    | ROUNDING (10, 30) | PREFIXES (4, 3, 2) | CALENDAR (MONTH, YEAR, DECADE)\n"
        "    | LEVELS (SELECT value, level_1, ...) | PARENTS (SELECT node, parent ...);\n"
        "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AUTO ON table.column;  -- what fits its values"
    ),
    "CREATE POLICY": (
        "CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name\n"
        "    ON table | (SELECT ...) | 'file' [PIVOT item VALUES rating] (\n"
        "    column IDENTIFIER [PSEUDONYM | MASK mask],  -- never published\n"
        "    column ENTITY [PSEUDONYM | MASK mask],      -- the respondent: counted instead of rows\n"
        "    column QUASI IDENTIFIER [USING hierarchy] [MIN LEVEL n] [MAX LEVEL n] [WEIGHT w],\n"
        "    column SENSITIVE [USING hierarchy | SHIFT (DAYS => n)],\n"
        "    column INSENSITIVE [SHIFT (DAYS => n) | SAMPLING WEIGHT]\n"
        ") [WITH TABLE table | (SELECT ...) | 'file' [AS name] ON (column of the entity) (column role ..., ...)] ...\n"
        "  [SAMPLE FRACTION fraction | SAMPLE OF people]\n"
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
    "SHOW": (
        "SHOW POLICIES | HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS | BUDGETS | READERS;\n"
        "SHOW GRANTS [FOR reader];"
    ),
    "CREATE WORKLOAD": (
        "CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY policy\n"
        "    [(queries => 1000, dimensions => 4, selectivity => 0.05, aggregate => 'count', seed => 1)];\n"
        "    -- random queries on the source of the policy"
    ),
    "EXPLAIN ANONYMIZED": (
        "EXPLAIN [VERBOSE] ANONYMIZED VIEW | TABLE name AS POLICY policy METHOD generalization(suppression => 0.02);\n"
        "    -- a dry run: nothing is written; VERBOSE has each step, the SQL and the fingerprint"
    ),
    "EXPLAIN ESTIMATE": (
        "EXPLAIN ESTIMATE SELECT ... UNDER BUDGET budget (epsilon => 0.5, ...);\n"
        "    -- what the answer would cost and how far its noise would go: nothing is spent, no row is read"
    ),
    "CREATE ANONYMIZED VIEW": (
        "CREATE [OR REPLACE] ANONYMIZED VIEW [IF NOT EXISTS] name FROM source (column, ...) [SENSITIVE column, ...];\n"
        "CREATE [OR REPLACE] ANONYMIZED VIEW [IF NOT EXISTS] name AS POLICY policy\n"
        "    [METHOD generalization(suppression => 0.02) | CHOOSE METHOD];          -- live, guarded"
    ),
    "CREATE ANONYMIZED TABLE": (
        "CREATE [OR REPLACE] ANONYMIZED TABLE [IF NOT EXISTS] name FROM source (column [USING hierarchy], ...)\n"  # noqa: S608
        "    [SENSITIVE column, ...] [ENTITY column] [REQUIRE k_anonymity(5), l_diversity(2), ...] [METHOD method];\n"
        "    -- source: a table, 'file.csv' or (SELECT ...); in parentheses, the columns that others may know\n"
        "CREATE [OR REPLACE] ANONYMIZED TABLE [IF NOT EXISTS] name AS POLICY policy\n"
        "    [METHOD method(argument => value, ...)\n"
        "        [FRAGMENTS (column, ...), ... | COLUMNS (column, ...), ... | COLUMNS EACH] [UNDER BUDGET budget]\n"
        "     | CHOOSE METHOD]\n"
        "    [LEVELS FROM RELEASE release] [IN SERIES series];      -- a snapshot, verified\n"
        + _wrapped(f"methods: {', '.join(METHODS)}; .help method says what each takes")
    ),
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
    "CREATE BUDGET": (
        "CREATE BUDGET [IF NOT EXISTS] name ON POLICY policy (epsilon => 2 [, delta => 1e-9] [, answers => 50]);\n"
        "    -- the privacy that all answers with noise about the policy's table may cost together"
    ),
    "CHECK": (
        "CHECK release;\n"
        "CHECK release IN SERIES series;               -- what the releases of the series tell together\n"
        "CHECK release JOINED WITH RELEASE other ON (column, ...)\n"
        "    REQUIRE xy_anonymity(x => (column, ...), y => column, k => 2), xy_linkability(..., max => 0.5);\n"
        "CHECK table | (SELECT ...) | 'file' (column, ...) [SENSITIVE column [USING hierarchy], ...] [AGAINST table]\n"
        "    [REQUIRE k_anonymity(k => 5 [, on => (column, ...)]), ...];\n"
        "-- HIPAA's 18 identifiers, and what the policy does with each\n"
        "CHECK POLICY policy FOR SAFE HARBOR [(AGE => column, BIRTH => column, ZIP => column,\n"
        "    DATES => (column, ...), STATE => column)];\n"
        "CHECK release FOR SAFE HARBOR [(...)];        -- also what is in its texts\n"
        "CHECK 'folder, data file or certificate of an export' [SIGNED BY 'public key file'];\n"
        "    -- what is achieved; without REQUIRE, every model's figure and the risks of linkage"
    ),
    "ESTIMATE": (
        "ESTIMATE SELECT count(*) FROM source WHERE ... [GROUP BY ...] FROM RELEASE release | 'file'\n"
        "    [MARGINALS (column => table, ...)];\n"
        "ESTIMATE SELECT count(*) | sum(x) | avg(x) | median(x) FROM source [GROUP BY ...] UNDER BUDGET budget\n"
        "    (epsilon => 0.5 [, rows => 1] [, low => 0, high => 500] [, keys => (1, 2)] [, candidates => (1, 2)]);\n"
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
    "EXPORT": (
        "EXPORT release TO 'path' [(FORMAT parquet | csv | duckdb | arrow | sqlite, DELIMITER ';', QUOTE '\"',\n"
        "    PARTITION_BY (column, ...), TEXT true, DICTIONARY true, REPLACE true,\n"
        "    REPORT true, SIGN KEY 'private key file')];  -- a suffix is a format, too; a folder gets Parquet\n"
        "EXPORT release TO 'postgresql://host/database?schema=name' [(REPLACE true)];"
    ),
}


# First words with several continuations; each continuation has its form above.
_SEVERAL = ("CREATE ANONYMIZED",)


def _forms_of_others() -> Iterator[tuple[str, str]]:
    """Yields the first words of statements without a form above, each with its grammar as a form and its meaning."""
    for statement in statements():
        for opening in map(label_of, statement.OPENINGS):
            if not any(name == opening or opening.startswith(f"{name} ") for name in (*STATEMENTS, *_SEVERAL)):
                meaning = " ".join((statement.__doc__ or "").partition("\n\n")[0].split())
                yield opening, f"{grammar_form(statement.GRAMMAR)}\n{_wrapped(meaning)}"


def grammar_form(grammar: str) -> str:
    """Formats the productions of a statement: the first as the user types it, the others below as comments."""
    productions = [" ".join(text.split()) for text in re.split(r"\s;(?:\s*\n|\s*$)", grammar.strip()) if text.strip()]
    names, texts = zip(*(production.split(" = ", 1) for production in productions), strict=True)
    plain = [re.sub(r'"([^"]+)"', r"\1", text).replace("qualified_name", "name") for text in texts]
    form = fill(f"{plain[0]};", 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join([form, *(_wrapped(f"{name}: {text}") for name, text in zip(names[1:], plain[1:], strict=True))])


STATEMENTS |= dict(_forms_of_others())

# Statements whose forms `.help` shows together.
RELATED: dict[str, tuple[str, ...]] = {"FRONTIER": ("ADVISE",), "ADVISE": ("FRONTIER",)}

# The words that occur within statements.
_CLAUSES = """
    OR REPLACE IF NOT EXISTS AS ON USING INTERVALS ROUNDING PREFIXES CALENDAR LEVELS PARENTS IDENTIFIER PSEUDONYM MASK
    KEY ENTITY QUASI SENSITIVE INSENSITIVE MIN MAX LEVEL WEIGHT CONFIDENTIAL VISIBLE PIVOT AGAINST JOINED WITH REQUIRE
    METHOD FRAGMENTS COLUMNS EACH FORMAT RELEASE MARGINALS WORKLOAD FIGURES attribute jointly variant distance ranges
    guarding absent METHODS SWEEP IN MEASURE LEAST knows within knowledge triples
    SAMPLE FRACTION OF SAMPLING household weights sampling_fraction alpha
    parquet csv duckdb arrow sqlite DELIMITER QUOTE PARTITION_BY TEXT DICTIONARY
    ALTER ADD COLUMN RENAME TO SHOW POLICIES HIERARCHIES RELEASES WORKLOADS FRONTIERS SERIES
    BUDGET BUDGETS UNDER epsilon delta accounting answers STREAM STREAMS BY END INTERVAL delay reuse
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
    """Returns the names of all tables, views and columns; an empty list if they cannot be read."""
    try:
        return [str(row[0]) for row in connection.execute(_NAMES).fetchall()]
    except Exception:
        # A completion that fails must not lose the text that the user types.
        return []


def quoted(name: str) -> str:
    """Returns the name as it must be typed: in quotes unless it is a plain word in lower case."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


class StatementCompleter(Completer):
    """Completes first words of sqlanon's statements, keywords, and the names that `names` returns each time."""

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
        """Yields the first words of statements, such as CREATE ANONYMIZED VIEW after `create an`."""
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
