"""What no query may have in it that the catalog keeps."""

from __future__ import annotations

import re
from urllib.parse import unquote

from sqlanon.errors import PolicyError
from sqlanon.syntax.script import quoted_texts

# In a text of words as libpq reads it or behind a URL's ?, and the beginning of a URL, up to the end of its scheme.
_KEYWORD = re.compile(r"(?:password|passwd|pwd)\s*=", re.IGNORECASE)
_SCHEME = re.compile(
    r"(?<![a-z0-9+.-])[0-9+.-]*+[a-z][a-z0-9+.-]*+://|\b(?:postgres|postgresql|mysql|mariadb|mongodb):", re.IGNORECASE
)


def require_no_password(text: str, whose: str) -> None:
    """Raises PolicyError for a query with a text in it that may have the password of a database.

    The catalog keeps the query as it is; `whose` says what the error calls it.
    """
    if any(_may_have_password(unquote(literal)) for literal in quoted_texts(text)):
        raise PolicyError(
            f"{whose} has a password in it, or a text that looks like one, and the catalog would keep it",
            hint="put it into a secret of DuckDB's, CREATE SECRET, or into the environment, PGPASSWORD; for another "
            "text, make a view of the query, which the catalog of sqlanon does not keep",
        )


def _may_have_password(text: str) -> bool:
    """Whether a text has the word of a password in it, or a colon between the beginning of a URL and the last @.

    Any character can be in a password, so that texts which have none are refused rather than one which has.
    """
    scheme = _SCHEME.search(text)
    is_url = scheme is not None and 0 <= text.find(":", scheme.end()) < text.rfind("@")
    return is_url or _KEYWORD.search(text) is not None
