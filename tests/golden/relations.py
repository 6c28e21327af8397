"""Cuts each relation that occurs more than once out of the statements: a CTE, a subquery, an arm of a UNION.

The relation has a file of its own, and the reference `({name})` replaces it. Relations that differ in at most three
words, such as the name of a table or a number, share a file, in which `{#1}` replaces the first of these words; the
reference `({name("patients", 3)})` has the words. A reference is never SQL: keys in DuckDB's structs have values, and
`#1` is no key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice, pairwise

from tests.golden.layout import Line, flat, laid_out

__all__ = ["cut", "expanded", "references"]

# A relation of fewer lines is read faster where it stands, and one that differs in more words is another relation.
_LEAST_LINES = 3
_MOST_HOLES = 3
_WORD = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'|\$?\b\d+(?:\.\d+)?\b""")
_ARGUMENT = r"""(?:"[^"{}]{1,40}"|'[^'{}]{0,40}'|\$?\d+(?:\.\d+)?|\{#\d+\})"""
_HOLE = re.compile(r"\{#(\d+)\}")
_REFERENCE = re.compile(rf"\{{([A-Za-z_]\w*(?:-\d+)?)(?:\(({_ARGUMENT}(?:, {_ARGUMENT})*)\))?\}}")
_QUERY = re.compile(r"\(*(?:SELECT|WITH|FROM|VALUES)\b")
_CTE = re.compile(r'"(\w+)" AS (?:(?:NOT )?MATERIALIZED )?\($')
_ALIAS = re.compile(r'\) AS "(\w+)"')
_READ = re.compile(r'\bFROM (?:"\w+"\.)*"(?:__sqlanon_)?(\w+?)(?:_\d+)?"(?!\.)')

Statement = list[Line]


@dataclass(frozen=True)
class _Family:
    """Relations that differ in few words: the first of them, its words with holes, and where each hole is."""

    name: str
    body: Statement
    words: tuple[str, ...]
    holes: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        """The relation with its holes, in one line."""
        return _with_words(flat(self.body), iter(self.words))

    def reference(self, words: Sequence[str], name: str) -> str | None:
        """The reference to a relation with these words; None if the family has others outside of its holes."""
        arguments = [words[places[0]] for places in self.holes]
        if [_filled(word, arguments) for word in self.words] != words:
            return None
        return f"{{{name}({', '.join(arguments)})}}" if arguments else f"{{{name}}}"


def cut(
    statements: Mapping[str, Sequence[Statement]], known: Mapping[str, str]
) -> tuple[dict[str, list[Statement]], dict[str, Statement]]:
    """Returns the statements with references for their shared relations, and these relations by name.

    `known` has the relations that have a name, in one line: a relation keeps its name, and a changed relation takes
    the name of the relation most like it. Neither depends on the order of the statements.
    """
    families = _families(list(chain(*statements.values())))
    shared = {family.text: family for family in families.values() if len(laid_out(family.body, 2)) >= _LEAST_LINES}
    while True:
        names = _named({text: family.name for text, family in shared.items()}, known)
        named = {text: (family, names[family.text]) for text, family in families.items() if family.text in names}
        steps = {
            path: [_referring(lines, _WORD.findall(flat(lines)), named) for lines in each]
            for path, each in statements.items()
        }
        relations = {names[text]: _referring(family.body, family.words, named) for text, family in shared.items()}
        times = Counter(
            name for lines in (*chain(*steps.values()), *relations.values()) for name in references(flat(lines))
        )
        if all(times[name] > 1 for name in relations):
            return steps, relations
        shared = {text: family for text, family in shared.items() if times[names[text]] > 1}


def expanded(text: str, relations: Mapping[str, str]) -> str:
    """Replaces the references in a text by relations, and the references in these, too."""

    def of(reference: re.Match[str]) -> str:
        name, arguments = reference[1], re.findall(_ARGUMENT, reference[2] or "")
        others = {other: body for other, body in relations.items() if other != name}
        return expanded(_filled(relations[name], arguments), others) if name in relations else reference[0]

    return _REFERENCE.sub(of, text)


def references(text: str) -> list[str]:
    """Lists the names in the references of a text, a name for each reference."""
    return [reference[1] for reference in _REFERENCE.finditer(text)]


def _families(statements: Sequence[Statement]) -> dict[str, _Family]:
    """Finds the family of each relation in the statements, by the relation's text in one line."""
    found: dict[str, Statement] = {}
    names: dict[str, set[str]] = {}

    def note(lines: Statement) -> None:
        for name, body in _relations(lines):
            text = flat(body)
            names.setdefault(text, set()).add(name)
            if text not in found:
                found[text] = body
                note(body)

    for statement in statements:
        text = flat(statement)
        if taken := _REFERENCE.search(text) or _HOLE.search(text):
            raise ValueError(f"{taken[0]} would be read as a reference: tests/golden/relations.py")
        note(statement)
    groups: dict[str, list[list[str]]] = {}
    for text in sorted(found):
        alike = groups.setdefault(_WORD.sub("?", text), [])
        group = next((group for group in alike if _holes([*group, text]) is not None), None)
        if group is None:
            alike.append([text])
        else:
            group.append(text)
    families: dict[str, _Family] = {}
    for group in chain(*groups.values()):
        holes = _holes(group) or ()
        words = _WORD.findall(group[0])
        for number, places in enumerate(holes, start=1):
            for place in places:
                words[place] = f"{{#{number}}}"
        name = min((name for text in group for name in names[text]), key=lambda name: (len(name), name))
        families |= dict.fromkeys(group, _Family(name, found[group[0]], tuple(words), holes))
    return families


def _holes(texts: Sequence[str]) -> tuple[tuple[int, ...], ...] | None:
    """Finds the places of the words in which texts differ, by hole; None if the texts differ in too many words."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, words in enumerate(zip(*map(_WORD.findall, texts), strict=True)):
        places.setdefault(words, []).append(place)
    differing = {words: where for words, where in places.items() if len(set(words)) > 1}
    few = len(differing) <= min(_MOST_HOLES, len(places) // 3)
    fit = all(re.fullmatch(_ARGUMENT, word) for word in chain(*differing))
    return tuple(map(tuple, differing.values())) if few and fit else None


def _relations(lines: Statement) -> Iterator[tuple[str, Statement]]:
    """Yields the outermost relations of some lines, each with a name for it."""
    for line, following in pairwise([*lines, Line("")]):
        if _is_relation(line):
            name = _CTE.search(line.text) or _ALIAS.match(following.text) or _READ.search(flat(line.below))
            yield (name[1] if name else "query"), line.below
        else:
            yield from _relations(line.below)


def _is_relation(line: Line) -> bool:
    return line.text.endswith("(") and bool(line.below) and bool(_QUERY.match(flat(line.below)))


def _referring(lines: Statement, words: Sequence[str], named: Mapping[str, tuple[_Family, str]]) -> Statement:
    """Returns the lines with these words, and with references for the relations that have a name."""
    done: Statement = []
    rest = iter(words)
    for line in lines:
        text, below = _with_words(line.text, rest), flat(line.below)
        own = [*islice(rest, len(_WORD.findall(below)))]
        family, name = named.get(below, (None, "")) if _is_relation(line) else (None, "")
        reference = family.reference(own, name) if family else None
        done.append(Line(text, [Line(reference)] if reference else _referring(line.below, own, named)))
    return done


def _with_words(text: str, words: Iterator[str]) -> str:
    return _WORD.sub(lambda _: next(words), text)


def _filled(text: str, arguments: Sequence[str]) -> str:
    """Puts arguments into the holes of a text; a hole without an argument stays."""
    return _HOLE.sub(lambda hole: (*arguments, *[hole[0]] * int(hole[1]))[int(hole[1]) - 1], text)


def _named(wanted: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Names each text: a known name, or the wanted one, with a number from the second text of that name on."""
    named: dict[str, str] = {}
    for name, text in sorted(known.items()):
        if text in wanted:
            named.setdefault(text, name)
    free = known.keys() - named.values()
    for text, want in sorted(wanted.items()):
        if text in named:
            continue
        alike = [name for name in sorted(free) if re.fullmatch(rf"{want}(-\d+)?", name)]
        if alike:
            named[text] = max(alike, key=lambda name: SequenceMatcher(None, text, known[name]).ratio())
            free -= {named[text]}
        else:
            taken = {*named.values(), *free}
            numbers = (f"{want}-{number}" for number in range(2, len(wanted) + len(known) + 2))
            named[text] = next(name for name in (want, *numbers) if name not in taken)
    return named
