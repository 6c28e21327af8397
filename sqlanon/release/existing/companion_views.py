"""The views beside a live view: what it reads, in the schema main, and what checks it, in the schema anon.

They are dropped with the release. None but the user's own queries shows a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.release.existing.content import fingerprint_query
from sqlanon.release.existing.secure_views import make_secure_view
from sqlanon.sql.release.release_query import ReleaseQuery

# In a view of this schema DuckDB looks a bare name up here first, whatever the search path of the session is. In one of
# another schema it goes on along the search path.
_MAIN = "main"


def source_view(release_id: str) -> QualifiedName:
    """The view of a user's query that a live view reads as its source."""
    return QualifiedName((_MAIN, "__sqlanon_source_" + release_id))


def public_view(release_id: str) -> QualifiedName:
    """The view of a user's query that a live view reads as its public table."""
    return QualifiedName((_MAIN, "__sqlanon_public_" + release_id))


def report_view(release_id: str) -> QualifiedName:
    """The measurements of the requirements that a live view's rows alone cannot answer: place, achieved, violating."""
    return QualifiedName(("anon", "report_" + release_id))


def content_view(release_id: str) -> QualifiedName:
    """The fingerprint of the rows that a live view shows, from what it is made of rather than from the view."""
    return QualifiedName(("anon", "content_" + release_id))


def own_queries(release_id: str, policy: Policy) -> list[tuple[QualifiedName, str]]:
    """The user's own queries that a live view reads, whose texts stay as they were written, each with its view."""
    named = ((source_view(release_id), policy.source), (public_view(release_id), policy.against))
    return [(name, source.query) for name, source in named if source is not None and source.query]


def make_checks(engine: Engine, query: ReleaseQuery, body: exp.Query, hidden: Sequence[int]) -> list[QualifiedName]:
    """Makes the views by which CHECK answers the requirements that the released rows alone cannot answer.

    `body` is the SELECT of the live view.
    """
    if not hidden:
        return []
    report, content = report_view(query.release_id), content_view(query.release_id)
    make_secure_view(engine, report, query.report(hidden))
    make_secure_view(engine, content, fingerprint_query(body, engine.columns(body)))
    return [report, content]
