"""Splits column names into words, and recognizes sensitive subjects and identifiers by lists of words in six languages.

The lists are the files of `sql/profile/`. A line has a language or a category, a colon, and words: `blood_pressure` is
two words in sequence, `diabet*` is the beginning of a word, and `*krankheit` is the end of a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from sqlanon import assets

# The subjects in the order of the search: the first match counts.
_SUBJECTS = ("intimacy", "health", "life", "law", "belief", "origin", "money", "marks")
# The subjects that text values may have: "Asthma", but not a number of francs.
_OF_VALUES = ("health", "life", "law", "belief", "intimacy")
_ABBREVIATIONS, _AT_END = "abbreviations", "="
_PHRASE = 4
_SHORTEST_STEM = 3
_LONGEST_COMPOSED = 40
# A phrase with at least this many letters is recognized without blanks, too: bloodpressure.
_JOINED = 7
# The spelling of umlauts without dots.
_DOTTED = {"ä": "ae", "ö": "oe", "ü": "ue"}


@dataclass(frozen=True)
class Subject:
    """A subject that people keep private: its name, and the words that mean it."""

    name: str
    words: frozenset[str]
    stems: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    of_values: bool = False

    def has(self, word: str) -> bool:
        """Whether a word, or words joined by underscores, belong to the subject."""
        return (
            word in self.words
            or any(word[:length] in self.stems for length in range(_SHORTEST_STEM, len(word) + 1))
            or any(word[start:] in self.ends for start in range(len(word)))
        )


@dataclass(frozen=True)
class _Parts:
    """The parts of names without blanks: `lprewage` is l, pre and wage, and `hivpos` is hiv and pos.

    `ordinary` has names and words that contain a word of a subject but do not mean the subject, such as party_size.
    """

    before: frozenset[str]
    behind: frozenset[str]
    ordinary: frozenset[str]


def words_of(name: str) -> str:
    """Returns the words of a column's name in lower case, joined by underscores; birthDate becomes birth_date."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", apart).strip("_").lower()


def split(name: str) -> list[str]:
    """Returns the words of a name without digits and accents; hiv2004 becomes hiv, icd10_code becomes icd and code.

    A word such as hba1c, with digits between letters, keeps them.
    """
    words: list[str] = []
    for word in words_of(_plain(name)).split("_"):
        is_mixed = re.fullmatch(r"[^\W\d]+\d[^\W\d]+\d?", word)
        words += [word] if is_mixed else [part for part in re.split(r"\d+", word) if part]
    return words


def sensitive_subject(name: str) -> tuple[str, str] | None:
    """Finds the subject of a column's name, and the word for it; None if the name has no word in the lists."""
    words = split(name)
    if not _parts().ordinary.isdisjoint(_phrases(words)):
        return None
    # cd4 is a word of a list with its digit.
    candidates = [*_phrases(words), *words_of(_plain(name)).split("_")]
    for subject in subjects():
        for phrase in candidates:
            if subject.has(phrase):
                return subject.name, phrase
    for subject, word in product(subjects(), words):
        if _is_composed(word, subject) or (word in subject.abbreviations and _is_among_parts(words, word)):
            return subject.name, word
    return None


def subject_of_value(text: str) -> str | None:
    """Finds the subject of a value by its words: health for "Acute asthma"; None if the value has no word in the
    lists.
    """
    phrases = list(_phrases(split(text[:80])))
    return next((s.name for s in subjects() if s.of_values and any(map(s.has, phrases))), None)


def identifier_of(name: str) -> str | None:
    """Finds the category of identifiers to which a column's name belongs by the lists. Returns None if the name is not
    in the lists.
    """
    words = split(name)
    phrases = list(_phrases(words))
    last = {"_".join(words[start:]) for start in range(len(words))}
    for category, (anywhere, at_end) in _identifiers().items():
        if not at_end.isdisjoint(last) or any(map(anywhere.has, phrases)):
            return category
    return None


@cache
def subjects() -> tuple[Subject, ...]:
    """Reads the subjects of the lists, in the order in which they are searched."""
    return tuple(_subject(*_read(name), of_values=name in _OF_VALUES) for name in _SUBJECTS)


def _subject(says: str, lists: dict[str, list[str]], *, of_values: bool = False) -> Subject:
    entries = [entry for language, words in lists.items() if language != _ABBREVIATIONS for entry in words]
    whole = {entry for entry in entries if "*" not in entry}
    return Subject(
        says,
        frozenset(whole | {joined for entry in whole if len(joined := entry.replace("_", "")) >= _JOINED}),
        frozenset(entry[:-1] for entry in entries if entry.endswith("*")),
        frozenset(entry[1:] for entry in entries if entry.startswith("*")),
        frozenset(lists.get(_ABBREVIATIONS, ())),
        of_values,
    )


@cache
def _identifiers() -> dict[str, tuple[Subject, frozenset[str]]]:
    """Reads the categories of identifiers: words that count anywhere in a name, and words that count only at its
    end.
    """
    _, lists = _read("identifiers")
    return {
        category: (
            _subject(category, {"": [word for word in words if not word.startswith(_AT_END)]}),
            frozenset(word[1:] for word in words if word.startswith(_AT_END)),
        )
        for category, words in lists.items()
    }


@cache
def _parts() -> _Parts:
    _, lists = _read("parts")
    return _Parts(frozenset(lists["before"]), frozenset(lists["behind"]), frozenset(lists["ordinary"]))


def _read(name: str) -> tuple[str, dict[str, list[str]]]:
    """Reads a file of words; returns the name of its subject, and its lists by language or category."""
    says, lists = "", dict[str, list[str]]()
    for line in assets.read("sql", "profile", f"{name}.txt").splitlines():
        head, _, words = line.partition(":")
        if head == "# says":
            says = words.strip()
        elif not line.startswith("#"):
            lists.setdefault(head, []).extend(spelling for word in words.split() for spelling in _spellings(word))
    return says, lists


def _spellings(word: str) -> set[str]:
    """Returns the spellings of a word without accents, with and without e for umlauts, such as suchtig and suechtig for
    süchtig.
    """
    return {_plain(word), _plain("".join(_DOTTED.get(letter, letter) for letter in word))}


def _plain(text: str) -> str:
    """Returns the text without accents, and with ss for ß."""
    apart = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _phrases(words: Sequence[str]) -> Iterator[str]:
    """Yields sequences of up to four words, joined by underscores."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + _PHRASE, len(words)) + 1):
            yield "_".join(words[start:end])


def _is_composed(word: str, subject: Subject) -> bool:
    """Whether a word consists of parts of names and a word or an abbreviation of the subject, such as l, pre, wage or
    drug, exp.

    Parts of names may come before the word of the subject. Other parts and words of any subject may come after it.
    """
    parts = _parts()
    before, behind = {0}, set[int]()
    for start in range(min(len(word), _LONGEST_COMPOSED)):
        if start not in before and start not in behind:
            continue
        for end in range(start + 1, len(word) + 1):
            piece = word[start:end]
            if start in behind and (piece in parts.behind or _is_known(piece)):
                behind.add(end)
            if start in before and piece in parts.before:
                before.add(end)
            if start in before and end - start < len(word) and _is_of(piece, subject, is_last=end == len(word)):
                behind.add(end)
    return len(word) in behind


def _is_of(piece: str, subject: Subject, *, is_last: bool) -> bool:
    """Whether a piece of a word belongs to the subject; only the last piece may be longer than a listed beginning or
    end.
    """
    if piece in subject.abbreviations:
        return True
    return len(piece) >= _SHORTEST_STEM and (
        piece in subject.words or piece in subject.stems or (is_last and subject.has(piece))
    )


def _is_known(piece: str) -> bool:
    return len(piece) >= _SHORTEST_STEM and any(
        piece in each.words or piece in each.abbreviations for each in subjects()
    )


def _is_among_parts(words: Sequence[str], word: str) -> bool:
    parts = _parts()
    return any(other in parts.before or other in parts.behind for other in words if other != word)
