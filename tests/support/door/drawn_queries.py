"""Random queries that shadow the names of tables: CTEs, recursion, subqueries, LATERAL, pivots, other spellings."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

# The releases are sick and r; each table has one column `v`, whose values tell where a row is from.
TABLES = {
    **{"sick": (1, 2), "r": (3,), "kin": (7771, 7772), "x": (7773,)},
    **{"arch.kin": (7774,), "arch.x": (7775,), "arch.sick": (7776,), "arch.r": (7777,)},
}
# Letters that are not these letters, though Unicode folds them to these.
_LIKE = {"k": "\u212a", "i": "\u0131", "s": "\u017f"}


@dataclass
class Drawing:
    """Draws one query; `recursive` is whether it may run without end, `pivots` whether it is run in several steps."""

    draw: st.DrawFn
    left: int
    recursive: bool = False
    open_pivot: bool = False
    # Names of CTEs, in scope or not.
    ctes_so_far: list[str] = field(default_factory=list)

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(1, 100)) <= percent

    def one_of(self, *forms: str) -> str:
        return self.draw(st.sampled_from(forms))

    def spelled(self, name: str) -> str:
        """Returns a name in some spelling that means it, or nearly."""
        kind = self.one_of(*["plain"] * 6, "upper", "upper", "quoted", "quoted upper", "alike")
        if kind == "alike":
            letters = [letter for letter in name if letter in _LIKE]
            name = name.replace(letters[0], _LIKE[letters[0]]) if letters else name
            return f'"{name}"'
        name = name.upper() if "upper" in kind else name
        return f'"{name}"' if "quoted" in kind else name

    def relation(self) -> str:
        name = self.spelled(self.one_of("sick", "sick", "r", "r", "kin", *self.ctes_so_far * 2))
        return self.one_of(*[""] * 8, "main.", "MAIN.", "arch.") + name

    def spend(self) -> bool:
        """Whether another part may be nested here."""
        self.left -= 1
        return self.left > 0

    def reference(self) -> str:
        if not self.spend():
            return self.relation()
        form = self.one_of(
            "name", "name", "query", "lateral", "join", "values", "summary", "pivot", "open", "range", "sample"
        )
        match form:
            case "query":
                return f"(FROM ({self.query()}) AS {self.one_of('kin', 'sick', 'q')}(v))"
            case "lateral":
                return f"(SELECT l.v FROM {self.relation()} AS l, LATERAL ({self.query()}) AS q(w))"
            case "join":
                return f"(SELECT a.v FROM {self.reference()} AS a, {self.reference()} AS b)"
            case "values":
                return f"(FROM (VALUES ({self.scalar()})) AS q(v))"
            case "summary":
                return f"(SELECT 1 AS v FROM ({self.one_of('SUMMARIZE', 'DESCRIBE')} {self.relation()}))"
            case "pivot":
                return f"(SELECT 1 AS v FROM (PIVOT {self.relation()} ON v IN (1) USING count(*)))"
            case "open":
                self.open_pivot = True
                return f"(PIVOT {self.relation()} ON v USING count(*) GROUP BY v)"
            case "range":
                return f"(FROM range({self.scalar()}::BIGINT % 3) AS r(v))"
            case "sample":
                return f"(FROM {self.relation()} TABLESAMPLE 100%)"
            case _:
                return self.relation()

    def scalar(self) -> str:
        if not self.spend():
            return "1"
        return f"(SELECT max(v) FROM ({self.query()}) AS m(v))"

    def select(self) -> str:
        parts = [f"SELECT {self.one_of('v', 'v', '1 AS v', 'max(v) AS v')} FROM {self.reference()}"]
        if parts[0].startswith("SELECT v") and self.chance(30):
            parts[0] = f"SELECT {self.scalar()} AS v FROM {self.reference()}"
        if self.chance(20) and self.spend():
            parts.append(f"WHERE {self.one_of('EXISTS', '1 IN', 'NOT EXISTS')} ({self.query()})")
        return " ".join(parts)

    def query(self) -> str:
        ctes = f"WITH {self.ctes()} " if self.chance(45) and self.spend() else ""
        text = self.select()
        if self.chance(25) and self.spend():
            other = self.one_of("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            text = f"{self._maybe_bracketed(text)} {other} {self._maybe_bracketed(self.query(), always=True)}"
        if self.chance(12):
            text = f"{text} ORDER BY {self.scalar()}"
        if self.chance(12):
            text = f"{text} LIMIT {self.scalar()}"
        return ctes + text

    def _maybe_bracketed(self, text: str, *, always: bool = False) -> str:
        return f"({text})" if always or self.chance(50) else text

    def ctes(self) -> str:
        recursive = self.chance(40)
        names = self.draw(st.lists(st.sampled_from(("kin", "x", "sick", "r")), min_size=1, max_size=3, unique=True))
        return ("RECURSIVE " if recursive else "") + ", ".join(self.cte(name, recursive) for name in names)

    def cte(self, plain: str, recursive: bool) -> str:
        name = self.spelled(plain)
        if self.chance(50):  # so that the body may name it, too
            self.ctes_so_far.append(plain)
        if recursive and self.chance(60):
            self.recursive = True
            text = f"{name}(v) AS (({self.query()}) UNION ({self.query()}))"
        else:
            text = f"{name}(v) AS {self.one_of('', 'MATERIALIZED ', 'NOT MATERIALIZED ')}({self.query()})"
        self.ctes_so_far.append(plain)
        return text


@dataclass(frozen=True)
class Drawn:
    """A query, whether it may run without end, and whether it has a pivot without values."""

    text: str
    recursive: bool
    open_pivot: bool


@st.composite
def queries(draw: st.DrawFn) -> Drawn:
    """Draws a query over the tables, with up to 14 nested parts."""
    drawing = Drawing(draw, draw(st.integers(2, 14)))
    text = drawing.query()
    if drawing.chance(10):
        text = f"{drawing.one_of('SUMMARIZE', 'DESCRIBE')} {text}"
    return Drawn(text, drawing.recursive, drawing.open_pivot)
