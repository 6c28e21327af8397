"""Changes the pages for the site, as a hook of mkdocs: `mkdocs.yml` names this file.

Pages are also written for readers of the repository, so links lead to folders and to files outside `docs/`, such as a
script or CONTRIBUTING.md. The site has a page for each of these, without an entry in the menu or the search; files
outside `docs/` are below `repository/`. Two marks that only tests read are removed from blocks: the words after a
language, and `<!-- output -->`, which becomes a title.

Why: docs/decisions/0031-the-site-is-made-of-the-same-pages.md
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # only `make docs` has it
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = ["linked", "on_config", "on_files", "on_page_markdown", "page_of", "plain_blocks", "rewritten"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
OUTSIDE = "repository"
CODE = re.compile(r"^(?P<fence>`{3,}).*?^(?P=fence)$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
# Pygments' names of languages whose suffix it does not know.
LANGUAGES = {".py": "python", ".toml": "toml", ".md": "markdown", ".sh": "sh", ".sql": "sql"}
# The weight of a hit in the search, by page or folder: readers look for how-to guides first.
WEIGHTS = {"five-minutes.md": 3, "legal.md": 2, "how-to": 2, "statements": 2, "maintainers": 0.5, "decisions": 0.3}
UNLISTED = "---\nsearch:\n  exclude: true\n---\n\n"


def prose(text: str) -> Iterator[tuple[bool, str]]:
    """Yields a page's parts in order: whether a part is prose, in which links are searched, and its text."""
    end = 0
    for code in CODE.finditer(text):
        # A link's text may be code: [`CHECK`](check.md). Only its target, which is outside the code, matters.
        yield True, text[end : code.start()]
        yield False, code[0]
        end = code.end()
    yield True, text[end:]


def target(source: str, path: str) -> str:
    """Returns the file that a link in the file `source` leads to, as a path from the top of the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path))


def is_page(path: str) -> bool:
    """Whether mkdocs itself makes a page of the file, or would report it as missing."""
    return path.startswith(f"{DOCS}/") and not (ROOT / path).is_dir()


def page_of(path: str) -> str:
    """Returns the site's page that shows a file of the repository, as a path below `docs/`."""
    if (ROOT / path).is_dir():
        path = f"{path}/index.md"
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return f"{OUTSIDE}/{path}" if path.endswith(".md") else f"{OUTSIDE}/{path}.md"


def linked(text: str, source: str) -> set[str]:
    """Returns the folders, and the files outside `docs/`, that a page links to."""
    paths = {target(source, link["path"]) for is_prose, part in prose(text) if is_prose for link in LINK.finditer(part)}
    return {path for path in paths if not is_page(path) and (ROOT / path).exists()}


def rewritten(text: str, source: str) -> str:
    """Returns the page with links that work on the site; `source` is the page's path in the repository."""
    folder = posixpath.dirname(page_of(source))

    def followed(link: re.Match[str]) -> str:
        path = target(source, link["path"])
        if not (ROOT / path).exists():
            return link[0]
        return posixpath.relpath(page_of(path), folder or ".") + (link["anchor"] or "")

    return "".join(LINK.sub(followed, part) if is_prose else part for is_prose, part in prose(text))


def listed(entry: Path, folder: str) -> str:
    if not is_page(f"{folder}/{entry.name}") or entry.suffix != ".md":
        return f"`{entry.name}`"
    return f"[{entry.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}]({entry.name})"


def contents(path: str) -> str:
    """Returns the page that shows a folder, or a file outside `docs/`."""
    if (ROOT / path).is_dir():
        entries = sorted(entry for entry in (ROOT / path).iterdir() if not entry.name.startswith(("_", ".")))
        return f"{UNLISTED}# {Path(path).name.capitalize()}\n\n" + "".join(
            f"- {listed(entry, path)}\n" for entry in entries
        )
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return UNLISTED + rewritten(text, path)
    return f"{UNLISTED}# {path}\n\n`````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}`````\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replaces each folder in the menu, such as `decisions/`, by a list of its pages, the index first."""
    docs = Path(config.docs_dir)
    for section in config.nav or []:
        for title, entry in section.items():
            if isinstance(entry, str) and entry.endswith("/"):
                pages = sorted(page.relative_to(docs).as_posix() for page in (docs / entry).glob("*.md"))
                section[title] = [f"{entry}index.md", *pages]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each folder, and each file outside `docs/`, that a page links to, also if that page was added."""
    from mkdocs.structure.files import File, InclusionLevel

    waiting = [(f"{DOCS}/{file.src_uri}", file.content_string) for file in files.documentation_pages()]
    added: set[str] = set()
    while waiting:
        source, text = waiting.pop()
        for path in linked(text, source) - added:
            added.add(path)
            content = contents(path)
            if path.endswith(".md"):
                waiting.append((path, (ROOT / path).read_text(encoding="utf-8")))
            files.append(File.generated(config, page_of(path), content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Rewrites the links of a page, sets its weight in the search, and removes marks for tests from its blocks."""
    if not page.file.src_uri.startswith(f"{OUTSIDE}/"):
        markdown = rewritten(markdown, f"{DOCS}/{page.file.src_uri}")
        page.meta["search"] = {"boost": WEIGHTS.get(page.file.src_uri.partition("/")[0], 1)}
    return plain_blocks(markdown)


def plain_blocks(markdown: str) -> str:
    """Returns a page without the marks for tests in its code blocks, which the site's parser would misread."""
    markdown = re.sub(r"<!-- output -->\s*^(`{3,})text$", r'\1text title="Output"', markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^(`{3,})sql error$", r'\1sql title="This fails"', markdown, flags=re.MULTILINE)
    return re.sub(r"^(`{3,})(sh|python) (no-run|spark|door)$", r"\1\2", markdown, flags=re.MULTILINE)
