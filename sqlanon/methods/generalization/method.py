"""Generalization with suppression: one level of its hierarchy for each attribute.

Samarati (2001); Incognito (LeFevre et al. 2005); OLA (El Emam et al. 2009). The release has the node of least loss
among the nodes that meet the requirements after suppressing at most a given fraction of the rows. Local recoding
recodes further the rows that it would suppress, and cell suppression replaces single cells of these rows by NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod

from sqlglot import exp

from sqlanon.domain.context import Watching
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.release import Reading
from sqlanon.domain.values import Value
from sqlanon.engines.base import RAISE_BOUND
from sqlanon.errors import PolicyError, about
from sqlanon.methods.base import Encoding, Method, Recoded, Wording
from sqlanon.methods.generalization.cell_suppression.choice import (
    WITH_NULL,
    CellSuppression,
    recoded_cells,
    require_able,
    suppress_cells,
    suppressed_in_words,
)
from sqlanon.methods.generalization.explain import Generalization, Round, decision
from sqlanon.methods.generalization.explain import reasons as around
from sqlanon.methods.generalization.explain import why as why_so
from sqlanon.methods.generalization.infeasible import infeasible, infeasible_join
from sqlanon.methods.generalization.local_recoding.rounds import cells_kept, recoded
from sqlanon.methods.limits import CAN, Limits, Refusal, only_on_duckdb
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.nodes import Found, Node, Settle, sizes
from sqlanon.methods.shared.lattice.search import Count
from sqlanon.methods.shared.lattice.timed_searches import TimedSearches
from sqlanon.methods.shared.spans import spans_of_levels
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import nodes_checked
from sqlanon.sql.release.recode import Recoding

RECODINGS = ("global", "local")
SUPPRESS = "suppress"


@dataclass(frozen=True)
class Options:
    """METHOD generalization(suppression, recoding, cells, loss, time_limit), each argument => its value.

    `suppression` is the share of rows, in [0, 1], that may be left out, `loss` the measure to minimize, `time_limit`
    the seconds after which the best node so far is chosen; None searches until the best node is proven. `recoding` is
    'global', one node for all rows, or 'local'. If `cells` is 'suppress', single cells of rows are suppressed.
    """

    suppression: Decimal = argument(
        "the share of rows that may be left out",
        Kind.FRACTION,
        default=Decimal("0.02"),
        example=Decimal("0.05"),
        alternatives=(Decimal("0.02"), Decimal("0.05"), Decimal("0.1")),
    )
    loss: str = argument(
        "the measure of loss to minimize", Kind.CHOICE, default="granularity_loss", choices=tuple(LOSSES)
    )
    time_limit: Decimal | None = argument(
        "how long the search may take before the best levels so far are published",
        Kind.NUMBER,
        default=None,
        above=0,
        unit="of seconds",
        example=60,
    )
    recoding: str = argument(
        "whether all rows have the same levels, or those that would be suppressed have coarser ones",
        Kind.CHOICE,
        default=RECODINGS[0],
        choices=RECODINGS,
    )
    cells: str | None = argument(
        "'suppress': rows that are too rare lose single cells, which become NULL, rather than being left out",
        Kind.CHOICE,
        default=None,
        choices=(SUPPRESS,),
    )


_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=CAN,
    series=CAN,
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    respondents=CAN,
    pseudonyms=CAN,
    shifts=CAN,
    min_level=CAN,
    max_level=CAN,
    public=CAN,
    guarding=CAN,
    samples=CAN,
    jointly=CAN,
    projections=CAN,
    whole=CAN,
    broader=CAN,
    joined=CAN,
    on_spark=CAN,
    scripted=CAN,
)
_ONE_LEVEL = "leave recoding out: all rows then have the same levels"
_IN_ROUNDS = replace(
    _LIMITS,
    projections=Refusal(
        "recoding => 'local' cannot meet {requirement}: its rounds are of classes by all quasi-identifiers", _ONE_LEVEL
    ),
    whole=Refusal(
        "recoding => 'local' cannot meet {requirement}: its rounds judge some rows without the others", _ONE_LEVEL
    ),
    broader=Refusal(
        "recoding => 'local' cannot meet {requirement}: its classes have labels of several levels", _ONE_LEVEL
    ),
    joined=Refusal(
        "recoding => 'local' cannot meet {requirement}: its rows show labels of several levels, which cannot be "
        "compared with those of {other}",
        _ONE_LEVEL,
    ),
    on_spark=only_on_duckdb("recoding => 'local' recodes rows in rounds, which are a recursive query"),
)
_ALL_CELLS = "leave cells out, or use recoding => 'local'"
_BY_CELL = replace(
    _LIMITS,
    view=Refusal(
        "a live view cannot choose at each query the cells that cells => 'suppress' makes NULL",
        "make a snapshot, CREATE ANONYMIZED TABLE, or use recoding => 'local'",
    ),
    series=Refusal(
        "cells => 'suppress' makes other cells NULL in each release, and a series compares classes that last",
        "use METHOD generalization without cells, or leave IN SERIES out",
    ),
    public=Refusal(
        "cells => 'suppress' cannot meet {requirement}: a row with NULL may be any of a public table", _ALL_CELLS
    ),
    projections=Refusal(
        "cells => 'suppress' cannot meet {requirement}: it makes classes by all quasi-identifiers", _ALL_CELLS
    ),
    whole=Refusal(
        "cells => 'suppress' cannot meet {requirement}: it judges some classes without the others", _ALL_CELLS
    ),
    broader=Refusal(
        "cells => 'suppress' cannot meet {requirement}: its classes have labels of several levels", _ALL_CELLS
    ),
    joined=Refusal(
        "cells => 'suppress' cannot meet {requirement}: its rows have NULLs, which cannot be compared with labels of "
        "{other}",
        _ALL_CELLS,
    ),
    on_spark=only_on_duckdb("cells => 'suppress' tries sets of columns one after the other in temporary tables"),
    scripted=Refusal(
        "it was made with cells => 'suppress', whose steps depend on the rows", "export the release, and load it there"
    ),
)


class GeneralizationMethod(Method[Options, Generalization | CellSuppression]):
    """METHOD generalization: publishes one level of its hierarchy for each quasi-identifier."""

    OPTIONS = Options
    COMPETES = ((), (("recoding", "local"),))

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments. Raises PolicyError if both suppressed cells and local recoding are requested."""
        checked = super().options(arguments)
        if checked.cells is not None and checked.recoding != RECODINGS[0]:
            with about("method", self.name, "cells"):
                raise PolicyError(
                    f"{self.name}: cells => 'suppress' has one level for each column, and recoding => 'local' several",
                    hint="leave one of them out",
                )
        return checked

    def limits(self, options: Options) -> Limits:
        """Returns the limits of generalization; local recoding and suppressed cells refuse whatever needs a single
        level.
        """
        if options.cells is not None:
            return _BY_CELL
        return _IN_ROUNDS if options.recoding == "local" else _LIMITS

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Requests codes along the hierarchies of the quasi-identifiers.

        Raises PolicyError if cells are to be suppressed in too many tables.
        """
        if options.cells is not None:
            require_able(task.policy)
        fewer = f"{RAISE_BOUND}, or take another loss, by which they are searched on Spark"
        return Encoding(unbounded=LOSSES[options.loss].PORTABLE, fewer=fewer)

    def choose(self, task: Task, options: Options) -> Generalization | CellSuppression:
        """Chooses the optimal node, or the best node found before the time limit; local recoding adds rounds to it.

        Raises PrivacyViolation, with the violating class, if not even the most general node that MAX LEVEL allows meets
        the requirements.
        """
        if options.cells is not None:
            return suppress_cells(task, options.loss, options.suppression, _Searches(options, task.watching))
        return self.choices(task, [options])[0]

    def choices(self, task: Task, options: Sequence[Options]) -> Sequence[Generalization]:
        """The choices for options that differ in `recoding` only: all of them begin with the best global recoding."""
        searches = _Searches(options[0], task.watching)
        nodes, optimum, best = self._global(task, options[0], searches)
        return [best if each.recoding == "global" else _local(task, nodes, optimum, best, searches) for each in options]

    def _global(self, task: Task, options: Options, searches: _Searches) -> tuple[Nodes, Found, Generalization]:
        """The best node for all rows: the nodes searched, the search's result, and the choice. Raises the errors of
        `choose`.
        """
        engine, policy, requirements, cells = task.engine, task.policy, task.requirements, task.encoded
        limit = int(Fraction(options.suppression) * cells.rows)
        low = tuple(b.min_level for b in policy.quasi_identifiers)
        nodes = Nodes(task, cells, low, limit, options.loss, lasting=True)
        optimum = searches.first(nodes, limit)
        if optimum is None:
            if broken := nodes.broken_joins(nodes.lattice.high):
                raise infeasible_join(task, broken, limit)
            raise infeasible(engine, policy, requirements, cells, nodes.batch, nodes.steps(nodes.lattice.high), limit)
        result = Generalization(
            rounds=(Round(optimum.node, cells.rows - optimum.suppressed),),
            loss=nodes.loss.value(optimum.loss),
            rows=cells.rows,
            suppressed=optimum.suppressed,
            limit=limit,
            nodes=nodes.lattice.size,
            checked=optimum.checked,
            pruned=optimum.pruned,
            proven=optimum.proven,
            least=None if optimum.least is None else nodes.loss.value(optimum.least),
            loss_name=options.loss,
        )
        return nodes, optimum, result

    def spans(self, task: Task, choice: Generalization | CellSuppression, ranks: Sequence[str]) -> exp.Query:
        """The ranks of the values behind each label, from the cells and levels of each round."""
        if isinstance(choice, CellSuppression):
            return super().spans(task, choice, ranks)
        parts = choice.parts or [(choice.levels, kept_cells(task, choice))]
        return spans_of_levels(task.policy, task.encoded, task.temp, ranks, parts)

    def why(self, task: Task, choice: Generalization | CellSuppression) -> Explanation | None:
        """Explains the choice by the nodes around it and by nodes that might lose less; None if cells are
        suppressed.
        """
        if isinstance(choice, CellSuppression):
            return None
        return why_so(task, task.encoded, choice)

    def reasons(
        self, task: Task, choice: Generalization | CellSuppression, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): each attribute's level, the rows left out, the loss, and the reasons."""
        quasi = task.policy.quasi_identifiers
        if isinstance(choice, CellSuppression):
            yield from (("solve", item, detail) for item, detail in suppressed_in_words(choice, quasi))
            return
        if explained is None:
            return
        yield from (("solve", item, detail) for item, detail in decision(choice, explained, quasi))
        yield from (("explain", item, detail) for item, detail in around(choice, explained, quasi))
        yield "solve", *nodes_checked(choice.searched)

    def compile(
        self, task: Task, choice: Generalization | CellSuppression, release_id: str, tokens: Mapping[str, str]
    ) -> Recoded:
        """The recoding of each attribute: its level in each round, or the classes with suppressed cells."""
        if isinstance(choice, CellSuppression):
            return recoded_cells(task, choice)
        levels = list(zip(*(round_.levels for round_ in choice.rounds), strict=True))
        quasi = task.policy.quasi_identifiers
        return Recoded(
            readings={
                bound.column: Reading.LABEL if any(attribute_levels) else Reading.EXACT
                for bound, attribute_levels in zip(quasi, levels, strict=True)
            },
            recodings=tuple(
                Recoding(bound, first, tuple(later)) for bound, (first, *later) in zip(quasi, levels, strict=True)
            ),
            rounds=tuple((round_.levels, round_.rows) for round_ in choice.rounds)
            if choice.recoding == "local"
            else (),
        )

    def preferred(self, task: Task, options: Options, levels: tuple[int, ...], most: int) -> Sequence[tuple[int, ...]]:
        """The nodes with less loss than the node with these levels. Raises the errors of `less_lossy`."""
        return less_lossy(task, options, levels, most)

    def wording(self, options: Options) -> Wording:
        """Returns the certificate's wording about the release, whose columns state their levels."""
        losses = {name: loss.DEFINITION for name, loss in LOSSES.items()}
        if options.cells is not None:
            return Wording(WITH_NULL, losses, tables=((Reading.EXACT, Reading.LABEL, Reading.LABEL_OR_NULL),))
        return Wording(None, losses, tables=((Reading.EXACT, Reading.LABEL),))


def _local(task: Task, nodes: Nodes, optimum: Found, best: Generalization, searches: _Searches) -> Generalization:
    """Returns the best recoding in rounds, or the best single node for all rows if no rounds lose less."""
    union = recoded(task, task.encoded, nodes, optimum, best.limit, best.loss_name, searches)
    if union is None:
        return replace(best, recoding="local")
    return replace(
        best,
        rounds=tuple(Round(levels, rows) for levels, rows in union.rounds),
        loss=nodes.loss.value(union.loss),
        suppressed=union.suppressed,
        proven=False,
        least=None,
        recoding="local",
        parts=tuple((levels, table) for (levels, _), table in zip(union.rounds, union.cells, strict=True)),
    )


def kept_cells(task: Task, choice: Generalization) -> str:
    """The table of the cells that a choice with one round publishes."""
    if not choice.suppressed:
        return task.encoded.table
    low = tuple(bound.min_level for bound in task.policy.quasi_identifiers)
    nodes = Nodes(task, task.encoded, low, choice.limit, choice.loss_name)
    return cells_kept(task, nodes, choice.levels)


class _Searches:
    """Searches among the nodes of one table, which share the statement's time limit."""

    def __init__(self, options: Options, watching: Watching | None) -> None:
        self._timed = TimedSearches(options.time_limit, watching)

    def first(self, nodes: Nodes, limit: int) -> Found | None:
        """Returns the best node for all rows; None if no node suppresses at most `limit` rows."""
        # A few cells are counted as quickly by SQL, which needs no arrays.
        few = nodes.rollups.few > 0 and nodes.lattice.size <= sizes().max_nodes
        arrays = None if few else nodes.arrays()
        if arrays is None:
            return self.search(nodes, limit, nodes.count, nodes.settle)
        best = self._timed.best_in_memory(nodes, limit, arrays)
        # Two classes might have had the same number in memory.
        sure = best is None or nodes.settle([best.node], None) == [(best.loss, best.suppressed)]
        return best if sure else self.search(nodes, limit, nodes.count, nodes.settle)

    def search(self, nodes: Nodes, limit: int, count: Count, settle: Settle) -> Found | None:
        """Returns the best of the nodes that suppress at most `limit` rows; None if there is none."""
        batch, few = nodes.rollups.batch, nodes.rollups.few
        return self._timed.best(nodes.lattice, limit, count, settle, nodes.loss.value, batch=batch, few=few)

    def of_a_round(self, nodes: Nodes, limit: int) -> Found | None:
        """The best node at which the classes that violate by themselves have at most `limit` rows."""
        return self.search(nodes, limit, nodes.count_last, nodes.settle_at_once)

    def expired(self) -> bool:
        """Whether the time limit of the statement is over."""
        return self._timed.expired()


_TOGETHER = 64


def less_lossy(task: Task, options: Options, levels: Node, most: int) -> Sequence[Node]:
    """The nodes with strictly less loss than the node with these levels, if no row is left out.

    `task` has the requirements of each class. Raises PolicyError if the choice depends on more than losses, as with
    local recoding and with rows that may be left out, and for lattices of more than `most` nodes.
    """
    if options.cells is not None:
        raise PolicyError("rows lose cells of their own", hint="METHOD generalization without cells loses none")
    if options.recoding != "global":
        raise PolicyError("rows are recoded to several nodes", hint="METHOD ... (recoding => 'global') has one")
    limit = int(Fraction(options.suppression) * task.encoded.rows)
    if limit:
        raise PolicyError(
            f"{limit} rows could have been left out, and which depends on the values that nobody is to know",
            hint="a release with (suppression => 0) can be attacked",
        )
    low = tuple(b.min_level for b in task.policy.quasi_identifiers)
    nodes = Nodes(task, task.encoded, low, limit, options.loss)
    ranges = [range(a, b + 1) for a, b in zip(nodes.lattice.low, nodes.lattice.high, strict=True)]
    if (size := prod(map(len, ranges))) > most:
        hint = "MIN LEVEL and MAX LEVEL make them fewer"
        raise PolicyError(f"there are {size:,} nodes, more than {most:,}", hint=hint)
    lattice_nodes = list(product(*ranges))
    losses: dict[Node, int] = {}
    for first in range(0, len(lattice_nodes), _TOGETHER):
        part = lattice_nodes[first : first + _TOGETHER]
        losses |= {node: loss for node, (loss, _) in zip(part, nodes.withheld_at_once(part), strict=True)}
    return [node for node in lattice_nodes if losses[node] < losses[levels]]
