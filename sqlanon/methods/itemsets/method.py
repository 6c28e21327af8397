"""METHOD itemsets: one cut of the items' hierarchy, under which each set of m labels is in no list or in at least k.

Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008). With search => 'suppress'
items are left out of all lists instead: Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation, Searched
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import Reading
from sqlanon.errors import DataError, InternalError, PolicyError, PrivacyViolation
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.itemsets.cut_search import apriori, optimal
from sqlanon.methods.itemsets.lists import (
    CodedLists,
    ItemTree,
    Labelled,
    code_table,
    coded_lists,
    column_name,
    list_attribute,
    required_lists,
)
from sqlanon.methods.itemsets.suppression import Suppression, suppress
from sqlanon.methods.limits import CAN, Limits, Refusal
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.task import Task, rows_of_source
from sqlanon.methods.shared.wording import loss_text
from sqlanon.sources.column_types import is_list
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

_PUBLISHED = (
    "A list shows labels of its items, each once and in the order of the labels: an item, or a node of the hierarchy "
    "that is above it, the same in all lists. A list without items, and NULL in place of a list, is shown as empty."
)
_NCP = (
    "normalized certainty penalty (NCP) of items: an occurrence of an item that is shown by a label costs n / N, where "
    "n of the N items that occur lie below the label, and nothing where it is shown as it is; the mean over all "
    "occurrences of items in lists"
)
_LEFT_OUT = (
    "A list shows its items, each once and in their order. Items that are suppressed are left out of all lists, which "
    "do not say which. A list without items, and NULL in place of a list, is shown as empty."
)
_SUPPRESSED = "suppressed_share"
_SHARE = "share of the occurrences of items in lists that are suppressed, because their items are left out of all lists"
_LABELS = "VARCHAR[]"
_SUPPRESS = "suppress"
# The number of labels that a dry run names.
_NAMED = 10


@dataclass(frozen=True)
class Options:
    """The arguments of METHOD itemsets."""

    search: Literal["apriori", "optimal", "levels", "suppress"] = argument(
        "how the labels are found: by raising the labels of rare sets, by examining all cuts of a small "
        "hierarchy, or as the least level that all items can have; 'suppress' uses no labels, and leaves items "
        "out of all lists",
        Kind.CHOICE,
        default="apriori",
        choices=("apriori", "optimal", "levels", _SUPPRESS),
    )


@dataclass(frozen=True)
class Itemsets:
    """The choice: the table of rows, the table of their lists' labels as codes of the tree, and the search's figures.

    `suppression` is set if items are left out of the lists instead of being recoded.
    """

    rows: int
    loss: Fraction
    rows_table: str
    labelled: str
    tree: ItemTree
    cut: tuple[int, ...]
    steps: tuple[int, ...] = ()
    searched: Searched | None = None
    level: int | None = None
    suppression: Suppression | None = None
    suppressed: int = 0
    loss_name: str = "ncp"
    remarks: tuple[str, ...] = ()


_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=Refusal("a live view cannot search for labels at each query, as METHOD {method} does", "make a snapshot"),
    series=Refusal(
        "METHOD {method} publishes lists in no classes, and a series has to know who is in which class",
        "leave IN SERIES out",
    ),
    without_series=CAN,
    unconstrained=CAN,
    requirements=Refusal(
        "METHOD {method} counts sets of items, and cannot meet {requirement}, which is about classes of rows",
        "require km_anonymity and coherence alone, or leave the list out of the policy and use METHOD generalization",
    ),
    respondents=CAN,
    min_level=Refusal(
        "METHOD {method} gives items labels of any level and publishes other columns as they are; the policy says "
        "MIN LEVEL {level} of {column}",
        "leave MIN LEVEL out; other columns are made coarser in a query, ON (SELECT ...)",
    ),
    max_level=Refusal(
        "METHOD {method} gives items labels of any level; the policy says MAX LEVEL {level} of {column}",
        "leave MAX LEVEL out",
    ),
    itemsets=CAN,
)


class ItemsetsMethod(Method[Options, Itemsets]):
    """METHOD itemsets: publishes lists whose items are generalized or left out."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD itemsets."""
        return _LIMITS

    def encoding(self, task: Task, options: Options) -> None:
        """Returns None, because items are codes of nodes. Raises PolicyError if there are no requirements, or if the
        search cannot meet one.
        """
        if not task.requirements:
            raise PolicyError(
                f"{task.policy.policy} has no requirement on the items of its lists",
                hint="METHOD itemsets needs REQUIRE km_anonymity(k => 5, m => 2)",
            )
        of_values = [requirement for requirement in task.requirements if requirement.attributes]
        if of_values and options.search != _SUPPRESS:
            raise PolicyError(
                f"METHOD itemsets(search => '{options.search}') cannot meet {of_values[0]}: lists with a label of "
                "several items may hold a sensitive item more often than those with each of the items",
                hint=f"write METHOD itemsets(search => '{_SUPPRESS}')",
                part=("method", "itemsets"),
            )

    def choose(self, task: Task, options: Options) -> Itemsets:
        """Chooses the cut. Raises PrivacyViolation if even one label for all items would be in too few lists."""
        lists, least = coded_lists(task), required_lists(task)
        tree = lists.tree
        if options.search == _SUPPRESS:
            return self._suppressed(task, lists)
        require_enough(task, lists.rows, lists.labelled, least[0])
        labelled = Labelled(task.engine, task.temp, lists.labelled)
        steps: tuple[int, ...] = ()
        searched = level = None
        if options.search == "optimal":
            cut, searched = optimal(tree, labelled, least)
        elif options.search == "levels":
            cut, level = least_level(tree, labelled, least)
        else:
            cut, steps = apriori(tree, labelled, least, task.watching)
        require_told_apart(tree, cut)
        rows = rows_of_source(task.engine, task.policy)
        remarks = tuple(of_one_label(tree, cut, least[0], len(task.policy.quasi_identifiers) > 1))
        codes = tuple(sorted(cut))
        return Itemsets(
            rows, tree.loss(cut), lists.rows, labelled.table, tree, codes, steps, searched, level, remarks=remarks
        )

    def _suppressed(self, task: Task, lists: CodedLists) -> Itemsets:
        """Chooses the items that are left out. Raises the errors of `suppress`."""
        suppression, tree = suppress(task, lists), lists.tree
        published = suppression.published
        require_told_apart(tree, published)
        occurrences = sum(tree.nodes[code].occurrences for code in published)
        share = Fraction(tree.occurrences - occurrences, tree.occurrences) if tree.occurrences else Fraction(0)
        nothing = bool(tree.items) and not published
        return Itemsets(
            rows_of_source(task.engine, task.policy),
            share,
            lists.rows,
            lists.labelled,
            tree,
            tuple(sorted(published)),
            suppression=suppression,
            loss_name=_SUPPRESSED,
            remarks=(_NOTHING_LEFT,) if nothing else (),
        )

    def reasons(self, task: Task, choice: Itemsets, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the published items and labels, their loss, and the figures of the search."""
        if choice.suppression is not None:
            yield from _reasons_of_suppression(choice, choice.suppression)
            return
        nodes = [choice.tree.nodes[code] for code in choice.cut]
        unchanged = sum(node.is_item for node in nodes)
        total = len(choice.tree.items)
        yield "solve", "items", f"{unchanged} of {total} items are published as they are, {total - unchanged} by labels"
        labels = [node for node in nodes if not node.is_item]
        if labels:
            widest = sorted(labels, key=lambda node: -node.leaves)[:_NAMED]
            named = ", ".join(f"{node.label} of {node.leaves}" for node in widest)
            more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
            yield "solve", "labels", f"{counted(len(labels), 'label')}, with the items below: {named}{more}"
        yield "solve", "loss", f"ncp {loss_text(choice.loss)}"
        for items, steps in enumerate(choice.steps, start=1):
            yield "solve", "search", f"sets of {counted(items, 'item')}: {counted(steps, 'step')}"
        if choice.level is not None:
            yield "solve", "search", f"all items at level {choice.level} of the hierarchy; no lower level satisfies"
        if choice.searched is not None:
            cuts, checked = choice.searched.nodes, choice.searched.checked
            yield "solve", "search", f"{checked} of {counted(cuts, 'cut')} counted; no other that satisfies loses less"

    def compile(self, task: Task, choice: Itemsets, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of the one table: the rows with the labels of their lists."""
        attribute = list_attribute(task)
        labels = code_table(
            task.temp,
            "label",
            {
                "code": ("BIGINT", list(choice.cut)),
                "label": ("VARCHAR", [choice.tree.nodes[code].label for code in choice.cut]),
            },
        )
        tables = {"labelled": choice.labelled, "node": labels}
        lists = subquery(reading(query_file("lists", "labels_of_lists"), tables), "shown")
        empty = cast(exp.Array(expressions=[]), _LABELS)
        outputs = [
            alias(f.coalesce(column("labels", "shown"), empty), bound.column)
            if bound.column == attribute.column
            else alias(column(column_name(position), "row"), bound.column)
            for position, bound in enumerate(task.policy.published)
        ]
        query = select(*outputs, of=relation(choice.rows_table, as_="row"))
        query = extend(query, joins=[left_join(lists, column("list_id", "shown").eq(column("list_id", "row")))])
        columns = tuple(_published(bound, attribute) for bound in task.policy.published)
        # Its texts are labels of items, and no values of the source's columns.
        return TablesQuery(task.policy, release_id, (PublishedTable(None, columns, query, words=()),))

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that each published row has a list, and that no list repeats a label."""
        (table,) = published.tables.values()
        quasi = {fold(attribute.name) for attribute in published.policy.quasi_identifiers}
        columns = published.engine.columns(select(exp.Star(), of=table))
        for name, kind in columns:
            if not is_list(kind) or fold(name) not in quasi:
                continue
            listed = select(alias(column(name), "list"), of=table)
            ((unfit,),) = published.engine.rows(reading(query_file("lists", "unfit"), {"listed": listed}))
            if unfit:
                return Structure(
                    misfit=f"{counted(int(unfit), 'row')} of {name} have no list, or one with a label twice"
                )
        return Structure()

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        if options.search == _SUPPRESS:
            return Wording(_LEFT_OUT, {_SUPPRESSED: _SHARE}, tables=((Reading.EXACT, Reading.ITEM_LABELS),))
        return Wording(_PUBLISHED, {"ncp": _NCP}, tables=((Reading.EXACT, Reading.ITEM_LABELS),))


def _published(bound: BoundAttribute, attribute: BoundAttribute) -> PublishedColumn:
    is_listed = bound.column == attribute.column
    return PublishedColumn(bound.column, bound.role, Reading.ITEM_LABELS if is_listed else Reading.EXACT, bound)


_NOTHING_LEFT = (
    "all items are left out, and the lists say nothing: each is in a set that violates; require less, or leave rare "
    "items and those that come with sensitive ones out in a query, ON (SELECT ...)"
)


def _reasons_of_suppression(choice: Itemsets, suppression: Suppression) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): the suppressed items by the size of their sets, and the loss."""
    published, total = len(suppression.published), len(choice.tree.items)
    yield "solve", "items", f"{published} of {total} items are published, {total - published} left out of all lists"
    yield "solve", "loss", f"{_SUPPRESSED.replace('_', ' ')} {loss_text(choice.loss)}, not proven to be the least"
    yield "solve", "search", f"single items: {counted(suppression.alone, 'item')} left out"
    yield (
        "solve",
        "search",
        f"{counted(suppression.sets, 'larger set')}: {counted(suppression.for_sets, 'item')} left out",
    )


_LESS_REQUIRED = "give a hierarchy with labels between items and *, or require a smaller m or k"


def of_one_label(tree: ItemTree, cut: Collection[int], enough: int, classes: bool) -> Iterator[str]:
    """Yields a remark if all items are published as the root; it names the number of items in fewer than `enough`
    lists.

    A single item that occurs is the root itself, and is published unchanged. `classes` is true if there are other
    quasi-identifiers, so that an item may be in fewer lists within a class than in total.
    """
    if not any(tree.nodes[code].above is None and not tree.nodes[code].is_item for code in cut):
        return
    rare = sum(tree.nodes[code].occurrences < enough for code in tree.items)
    if rare:
        why = (
            f"{rare} of {len(tree.items)} items {'is' if rare == 1 else 'are'} in fewer than {counted(enough, 'list')}"
        )
        helps = f"leave NULLs and very rare items out of the lists in a query, ON (SELECT ...), or {_LESS_REQUIRED}"
    else:
        within = ", or items within classes of the other columns, are" if classes else " are"
        why = f"each item is in at least {counted(enough, 'list')}, but sets of items{within} in fewer"
        helps = _LESS_REQUIRED
    yield f"all items are published as one label, and the lists say nothing: {why}; {helps}"


def least_level(tree: ItemTree, labelled: Labelled, least: Sequence[int]) -> tuple[frozenset[int], int]:
    """Returns the cut of the lowest level under which no set is rare, and the level; relabels `labelled` by it.

    `least` is the minimum support by size: entry i is for sets of i + 1 items. At higher levels no set is rarer, but
    more is lost.
    """
    cut: frozenset[int] | None = None
    for level in range(max((node.level for node in tree.nodes), default=0) + 1):
        labels = tree.at_level(level)
        if frozenset(labels.values()) == cut:
            continue
        cut = frozenset(labels.values())
        labelled.relabel(labels)
        if not _has_rare(labelled, least):
            return cut, level
    raise InternalError("a class has fewer lists than are enough; nothing was published")


def _has_rare(labelled: Labelled, least: Sequence[int]) -> bool:
    for items, enough in enumerate(least, start=1):
        labelled.count_rare(items, enough)
        if labelled.first_rare() is not None:
            return True
    return False


# The errors for a cut of the items: too few lists, and a label of several nodes.


def require_enough(task: Task, rows: str, labelled: str, enough: int) -> None:
    """Raises PrivacyViolation for classes with too few rows, or too few lists with items."""
    query = reading(query_file("lists", "least_lists"), {"listed": rows, "labelled": labelled})
    for mark in list(query.find_all(exp.Placeholder)):
        mark.replace(literal(enough))
    ((classes, number, empty),) = task.engine.rows(query)
    if not classes:
        return
    if len(task.policy.quasi_identifiers) == 1:
        lists = f"{counted(int(number), 'list')} {'without' if empty else 'with'} items"
        raise PrivacyViolation(
            f"{task.name} would have {lists}, and at least {enough} are required; nothing was published",
            hint="require a smaller k, or publish no lists",
        )
    raise PrivacyViolation(
        f"{counted(int(classes), 'class', 'classes')} of the quasi-identifiers beside the list "
        f"{'has' if classes == 1 else 'have'} fewer than {enough} rows, or fewer lists with items "
        f"({counted(int(number), 'row')} in all); nothing was published",
        hint="make these columns coarser in a query, ON (SELECT ...), leave them out, or require a smaller k",
    )


def require_told_apart(tree: ItemTree, cut: frozenset[int]) -> None:
    """Raises DataError if two published nodes have the same label, because a reader could not distinguish them."""
    labels = Counter(tree.nodes[code].label for code in cut)
    several = [label for label, number in labels.items() if number > 1]
    if several:
        raise DataError(
            f"{counted(len(several), 'label')} would represent several nodes of the hierarchy, such as {several[0]!r}",
            hint="give the nodes of the hierarchy different labels, none of them that of an item",
        )
