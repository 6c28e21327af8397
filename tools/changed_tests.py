"""Runs the quick tests of changed files: `python tools/changed_tests.py`, or `make test-changed`.

Changed files differ from the commit where the branch left main; uncommitted and new files are included. `--since`
names another commit. Each changed file selects tests, and the run prints them with the reason:

- A module of sqlanon selects the subjects of its part (`PARTS` in tests/support/subjects.py) and of the parts that
  import it or a module of its own part that imports it, and the test files that import one of these modules.
- A file under sql/ or udfs/ selects the same tests as the modules that load it. The file of a model with an unchanged
  name selects fewer: the tests over all models, the tests that name it, and the tests of the parts that name it,
  unless everything depends on one of these parts.
- A helper of the tests selects the test files that import it, by any number of steps; a test file selects itself.
- A page selects the tests of the documentation, and test files that name it; a tool, a benchmark and a file that
  builds the project select tests/packaging/ and the test files that name or import it.
- Any other file selects everything, and so does a module of a part on which all other parts depend.

Tests of parts that import a module by more steps are not run; the run names their subjects. `make test` runs them.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.subjects import PARTS, subjects_of  # noqa: E402

__all__ = ["Selection", "Tree", "changed_files", "select"]

# The functions of sqlanon/assets.py; their first argument is a folder of the project.
READERS = ("folder", "listing", "read")
# The module whose functions read files that other modules name.
SQL_FILES = "sqlanon.sql.build.sql_files"
# The tests that run the blocks of pages, follow their links and read their words.
OF_PAGES = (
    "tests/unit/test_docs.py",
    "tests/unit/test_examples.py",
    "tests/unit/test_maintainers.py",
    "tests/packaging/test_tree.py",
    "tests/packaging/test_words.py",
)
# The run names the selected test files up to this number; --list names all of them.
NAMED = 12
# Files around the package: they select the tests of the project, and the tests that name or import the file.
AROUND = ("Makefile", "mkdocs.yml", "LICENSE", ".gitignore", ".ci/", "tools/", "benchmarks/")


# The tests over all models: their subjects, their folders, and the helpers that they import.
OVER_MODELS = frozenset({"models", "check"})
FOLDERS_OVER_MODELS = ("tests/contract/", "tests/golden/", "tests/migrations/")
HELPERS_OVER_MODELS = ("tests.oracles.models", "tests.support.models")


@dataclass(frozen=True)
class Model:
    """The names of a file in sql/models/: its own, its model's and its variant's (empty for a default variant)."""

    file: str
    name: str
    variant: str

    @staticmethod
    def read(file: str, text: str) -> Model | None:
        """Returns the model of a file with this text; None for a text without its header."""
        name = re.search(r"^-- model: (\w+)$", text, re.MULTILINE)
        variant = re.search(r"^-- when: \w+ = (\w+)( \(default\))?$", text, re.MULTILINE)
        return Model(file, name[1], variant[1] if variant and not variant[2] else "") if name else None

    def is_named_in(self, text: str) -> bool:
        """Whether a text may be about the model."""
        return self.file in text or (self.name in text and self.variant in text)


@dataclass
class Selection:
    """The subjects and test files that changed files select, with the reasons."""

    everything: list[str] = field(default_factory=list)
    subjects: dict[str, set[str]] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)
    # Subjects that import the changed modules by more than one step.
    beyond: set[str] = field(default_factory=set)

    def add(self, reason: str, *, subjects: Iterable[str] = (), files: Iterable[str] = ()) -> None:
        """Adds subjects and test files for one reason."""
        for subject in subjects:
            self.subjects.setdefault(subject, set()).add(reason)
        for file in files:
            self.files.setdefault(file, set()).add(reason)

    def paths(self, tree: Tree) -> list[str]:
        """Returns the test files to run, by their paths from the root."""
        of_subjects = {path for path in tree.tests if not self.subjects.keys().isdisjoint(subjects_of(ROOT / path))}
        return sorted((of_subjects | self.files.keys()) & tree.tests)


class Tree:
    """The imports and file reads of sqlanon and its tests, and the commit that the working tree is compared with."""

    def __init__(self, commit: str = "HEAD") -> None:
        self.commit = commit

    @cached_property
    def graph(self) -> grimp.ImportGraph:
        """Returns the imports, including imports by name: the registry names a method's module as a text."""
        graph = grimp.build_graph("sqlanon", cache_dir=None)
        for module, texts in self.texts.items():
            for named in texts & graph.modules - {module}:
                graph.add_import(importer=module, imported=named)
        return graph

    @cached_property
    def tests(self) -> set[str]:
        """Returns the test files that `make test` runs."""
        found = (path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
        return {path for path in found if not path.startswith(("tests/spark/", "tests/clients/"))}

    @cached_property
    def imports_of_tests(self) -> dict[str, set[str]]:
        """Returns the modules that each file under tests/ and benchmarks/ imports."""
        files = (path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
        return {path.relative_to(ROOT).as_posix(): set(_imported(_tree(path))) for path in files}

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        """Returns the syntax tree of each module of sqlanon."""
        paths = (ROOT / "sqlanon").rglob("*.py")
        return {_module(path.relative_to(ROOT).as_posix()): _tree(path) for path in paths}

    @cached_property
    def texts(self) -> dict[str, set[str]]:
        """Returns the string literals in each module of sqlanon."""
        return {
            module: {node.value for node in ast.walk(tree) if _is_text(node)} for module, tree in self.modules.items()
        }

    @cached_property
    def loads(self) -> list[tuple[str, tuple[str, ...]]]:
        """Returns pairs of a module that reads files and the beginning of the paths that it can read."""
        return [(module, start) for module, tree in self.modules.items() for start in _loaded(tree)]

    def loading(self, path: str) -> set[str]:
        """Returns the modules that can read a file.

        A module that gets the folder as an argument counts if it, its part or a module that imports it contains the
        folder's name. If no call names the file, the modules that contain the name of its folder count.
        """
        parts = tuple(Path(path).with_suffix("").parts)
        found = {module for module, start in self.loads if parts[: len(start)] == start}
        handed = {module for module, start in self.loads if len(start) == 1} - {SQL_FILES}
        named = {module for module in handed & found if parts[1] in self._texts_around(module)}
        joined = {module for module, texts in self.texts.items() if parts[1] in texts}
        return found - handed - {SQL_FILES} | named or joined

    def _texts_around(self, module: str) -> set[str]:
        around = {each for each in self.modules if part_of(each) == part_of(module)} | self.importers(module)
        return set().union(*map(self.texts.__getitem__, around))

    def importers(self, module: str) -> set[str]:
        """Returns the modules that import this one directly; an empty set for a removed module."""
        return self.graph.find_modules_that_directly_import(module) if module in self.graph.modules else set()

    def tests_that_import(self, modules: set[str]) -> set[str]:
        """Returns the test files that import one of these modules, directly or through helpers of the tests."""
        seen: set[str] = set()
        waiting = set(modules)
        while waiting:
            found = {path for path, names in self.imports_of_tests.items() if not names.isdisjoint(waiting)} - seen
            seen |= found
            waiting = {_module(path) for path in found}
        return seen & self.tests

    def tests_that_name(self, path: str) -> set[str]:
        """Returns the test files that contain the name of a file."""
        return {test for test in self.tests if Path(path).name in (ROOT / test).read_text(encoding="utf-8")}

    def model(self, path: str) -> Model | None:
        """Returns the model of a file in sql/models/; None if the commit lacks the file or has another name in it."""
        if not re.fullmatch(r"sql/models/\w+\.sql", path) or not (ROOT / path).exists():
            return None
        stem = Path(path).stem
        model = Model.read(stem, (ROOT / path).read_text(encoding="utf-8"))
        return model if model == Model.read(stem, _git("show", f"{self.commit}:{path}", check=False)) else None

    def naming(self, model: Model) -> tuple[set[str], set[str]]:
        """Returns the modules of sqlanon, and the modules of tests, that name a model in their text."""

        def are_named(folder: str) -> set[str]:
            files = (path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)
            named = (path for path in files if model.is_named_in(path.read_text(encoding="utf-8")))
            return {_module(path.relative_to(ROOT).as_posix()) for path in named}

        return are_named("sqlanon"), are_named("tests")


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _module(path: str) -> str:
    """Returns the name of a module by its path from the root."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yields the modules that a file imports anywhere. A name imported from a package counts as a module, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _loaded(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """Yields the beginnings of the paths that a module can read, up to the first part that is not a literal.

    A call whose first argument is a folder of sql/, such as query_file("estimates", "range"), counts as a read.
    """
    folders = {path.name for path in (ROOT / "sql").iterdir()}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        start = [each.value for each in takewhile(_is_text, node.args)]
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if start and name in READERS and start[0] in ("sql", "udfs"):
            yield tuple(start)
        elif start and start[0] in folders:
            yield ("sql", *start)


@cache
def part_of(module: str) -> str | None:
    """Returns the part of sqlanon to which a module belongs, the longest match in PARTS; None if there is none."""
    below = module.removeprefix("sqlanon.")
    parts = [part for part in PARTS if below == part or below.startswith(f"{part}.")]
    return max(parts, key=len, default=None)


def changed_files(since: str | None) -> tuple[str, list[str]]:
    """Returns the commit to compare with, and the files that differ from it or are new."""
    commit = since
    for main in ("main", "origin/main"):
        commit = commit or _git("merge-base", "HEAD", main, check=False).strip()
    commit = commit or "HEAD"
    differ = _git("diff", "--name-only", "--no-renames", commit).splitlines()
    return commit, sorted({*differ, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def _git(*arguments: str, check: bool = True) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=check, capture_output=True, text=True).stdout


def select(paths: Sequence[str], tree: Tree) -> Selection:
    """Returns the tests that changed files select."""
    selection = Selection()
    for path in paths:
        _select(path, selection, tree)
    return selection


def _select(path: str, selection: Selection, tree: Tree) -> None:
    if path in tree.tests:
        selection.add(path, files=[path])
    elif path.startswith("tests/") and path.endswith(".py") and Path(path).name != "conftest.py":
        selection.add(path, files=tree.tests_that_import({_module(path)}))
    elif path.startswith("tests/golden/"):
        selection.add(path, files=(test for test in tree.tests if test.startswith("tests/golden/")))
    elif path.startswith("sqlanon/") and path.endswith(".py"):
        _select_module(path, _module(path), selection, tree)
    elif (model := tree.model(path)) is not None and _select_model(path, model, selection, tree):
        pass
    elif path.startswith(("sql/", "udfs/")):
        for module in tree.loading(path):
            _select_module(path, module, selection, tree)
        if not tree.loading(path):
            selection.everything.append(f"{path}: no module is known to load it")
    elif path.endswith(".md"):
        selection.add(path, files=[*OF_PAGES, *tree.tests_that_name(path)])
    elif path.startswith(AROUND):
        selection.add(path, files=(test for test in tree.tests if test.startswith("tests/packaging/")))
        selection.add(path, files=tree.tests_that_name(path) | tree.tests_that_import({_module(path)}))
    else:
        selection.everything.append(f"{path}: it may concern any test")


def _select_module(path: str, module: str, selection: Selection, tree: Tree) -> None:
    part = part_of(module)
    if part is None or PARTS[part] is None:
        selection.everything.append(f"{path}: everything rests on sqlanon.{part or module}")
        return
    inside = _reached({module}, tree, part)
    around = set().union(*map(tree.importers, inside)) - inside
    selection.add(path, subjects=PARTS[part] or ())
    for neighbor in {found for each in around if (found := part_of(each))} - {part}:
        selection.add(f"{path}, which sqlanon.{neighbor} imports", subjects=PARTS[neighbor] or ())
    selection.add(path, files=tree.tests_that_import(inside))
    parts = {part_of(each) for each in _reached(inside | around, tree, None)}
    selection.beyond |= {subject for each in parts - {None} for subject in PARTS[each] or ()}


def _select_model(path: str, model: Model, selection: Selection, tree: Tree) -> bool:
    """Selects the tests of a model with unchanged names; returns False, without a selection, if more uses them.

    A module that names the model, such as a method that promises it, selects its part and the parts that import it.
    """
    modules, of_tests = tree.naming(model)
    parts = {part_of(module) for module in modules | set().union(*map(tree.importers, modules))}
    if any(part is None or PARTS[part] is None for part in parts):
        return False
    selection.add(f"{path}, which is a model", subjects=OVER_MODELS)
    for part in parts - {None}:
        selection.add(f"{path}, which sqlanon.{part} names or imports", subjects=PARTS[part] or ())
    imported = set().union(*tree.imports_of_tests.values())
    over_models = {module for module in imported if module.startswith(HELPERS_OVER_MODELS)}
    selection.add(path, files=(test for test in tree.tests if test.startswith(FOLDERS_OVER_MODELS)))
    selection.add(path, files=(test for test in tree.tests if _module(test) in of_tests))
    selection.add(path, files=tree.tests_that_import(of_tests | over_models | modules))
    selection.add(path, files=[*OF_PAGES, *tree.tests_that_name(path)])
    return True


def _reached(modules: set[str], tree: Tree, part: str | None) -> set[str]:
    """Returns these modules and the modules that import them by any number of steps, within a part if one is given."""
    seen, waiting = set(modules), list(modules)
    while waiting:
        found = {each for each in tree.importers(waiting.pop()) - seen if part is None or part_of(each) == part}
        seen |= found
        waiting += found
    return seen


def _told(selection: Selection, paths: Sequence[str]) -> Iterator[str]:
    """Yields the lines that report the selection and its reasons."""
    if selection.everything:
        yield from (f"  everything, for {reason}" for reason in selection.everything)
        return
    for subject, reasons in sorted(selection.subjects.items()):
        yield f"  {subject}: {'; '.join(sorted(reasons)[:3])}{' ...' if len(reasons) > 3 else ''}"
    named = f": {', '.join(paths)}" if 0 < len(paths) <= NAMED else ""
    yield f"  {len(paths)} test file{'' if len(paths) == 1 else 's'}{named}"
    if left_out := sorted(selection.beyond - selection.subjects.keys()):
        yield f"  not run, though they import it by several steps: {', '.join(left_out)}; make test runs them"


def main() -> None:
    """Selects tests and runs them."""
    parser = argparse.ArgumentParser(description="Runs the quick tests of what has changed.")
    parser.add_argument("--since", metavar="COMMIT", help="compare with this commit, not with where main was left")
    parser.add_argument("--list", action="store_true", help="print the test files, and run none")
    parser.add_argument("pytest", nargs="*", metavar="OPTION", help="what runs the tests: -m pytest -n 2")
    given = parser.parse_args()
    try:
        commit, changed = changed_files(given.since or None)
    except subprocess.CalledProcessError as error:
        sys.exit(f"git cannot compare with {given.since}: {error.stderr.splitlines()[0]}")
    if not changed:
        print(f"No file differs from {commit[:12]}, so no test is run; SINCE=HEAD~1 compares with an earlier commit.")
        return
    tree = Tree(commit)
    selection = select(changed, tree)
    paths = [] if selection.everything else selection.paths(tree)
    differ = "1 file differs" if len(changed) == 1 else f"{len(changed)} files differ"
    print(f"{differ} from {commit[:12]}; their tests:", *_told(selection, paths), sep="\n")
    if given.list:
        print(*paths, sep="\n")
    elif paths or selection.everything:
        sys.stdout.flush()
        sys.exit(subprocess.run([sys.executable, *(given.pytest or ["-m", "pytest"]), *paths], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
