"""Pages about a release or a policy, displayed below a cell."""

from __future__ import annotations

from html import escape

_STYLE = "width: 100%; height: 40rem; border: 0"


class Page:
    """A page that a notebook displays in a frame of its own, so that neither can reach into the other."""

    def __init__(self, title: str, page: str) -> None:
        self.title = title
        self.page = page

    def __repr__(self) -> str:
        return f"{self.title}: a page of {len(self.page):,} characters, which a notebook displays"

    def _repr_html_(self) -> str:
        # A frame without allow-same-origin has no cookies, no storage and no notebook around it.
        frame = f'title="{escape(self.title)}" sandbox="allow-scripts" style="{_STYLE}"'
        return f'<iframe srcdoc="{escape(self.page)}" {frame}></iframe>'
