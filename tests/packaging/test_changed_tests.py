"""`make test-changed` runs the tests of what has changed, and all of them where it cannot tell which these are."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.subjects import PARTS, SUBJECTS

ROOT = Path(__file__).resolve().parents[2]


def test_every_part_of_the_package_has_subjects() -> None:
    parts = {
        path.stem for path in (ROOT / "sqlanon").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    methods = {
        f"methods.{path.name}" for path in (ROOT / "sqlanon/methods").iterdir() if (path / "__init__.py").exists()
    }
    # A module that only names what is public or starts the package concerns everything, as any without a part does.
    assert (parts | methods) - {"__init__", "__main__"} - PARTS.keys() == set()
    assert set().union(*(subjects for subjects in PARTS.values() if subjects)) <= SUBJECTS.keys()


def test_every_part_is_there() -> None:
    for part in PARTS:
        path = ROOT / "sqlanon" / part.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), part


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("changed_tests", ROOT / "tools/changed_tests.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tree(tool: ModuleType) -> Any:
    made = tool.Tree()
    # What all tests need, so that none pays for the others.
    assert made.graph.modules
    assert made.imports_of_tests.keys() >= made.tests
    assert made.texts
    assert made.loads
    return made


def test_a_module_of_a_method_selects_what_is_tested_of_the_method(tool: ModuleType, tree: Any) -> None:
    found = tool.select(["sqlanon/methods/mondrian/recursion.py"], tree)
    assert (found.everything, set(found.subjects)) == ([], {"mondrian"})
    assert {"tests/unit/test_mondrian.py", "tests/attacks/test_mondrian.py"} <= set(found.paths(tree))
    assert "tests/unit/test_itemsets.py" not in found.paths(tree)


def test_a_shared_module_selects_the_parts_that_import_it(tool: ModuleType, tree: Any) -> None:
    found = tool.select(["sqlanon/methods/shared/arguments.py"], tree)
    importing = tree.importers("sqlanon.methods.shared.arguments")
    methods = {name.split(".")[2] for name in importing if name.startswith("sqlanon.methods.")} - {
        "base",
        "registry",
        "shared",
    }
    assert methods
    for method in methods:
        assert set(PARTS[f"methods.{method}"] or ()) <= set(found.subjects)


def test_a_query_selects_what_the_module_that_loads_it_selects(tool: ModuleType, tree: Any) -> None:
    for path, module in (
        ("sql/streams/figures.sql", "sqlanon/catalog/streams.py"),
        # The last part of its path is put together from others.
        ("sql/ledger/digest_of_release.sql", "sqlanon/catalog/ledger.py"),
    ):
        query, loader = tool.select([path], tree), tool.select([module], tree)
        assert set(loader.paths(tree)) <= set(query.paths(tree))
        assert set(loader.subjects) <= set(query.subjects)


def test_every_query_is_loaded_by_a_module(tool: ModuleType, tree: Any) -> None:
    for path in (ROOT / "sql").rglob("*.sql"):
        assert tree.loading(path.relative_to(ROOT).as_posix()), path


def test_a_model_is_loaded_by_what_asks_its_questions(tool: ModuleType, tree: Any) -> None:
    assert tree.loading("sql/models/entropy_l_diversity.sql") >= {"sqlanon.sql.questions.load"}
    assert {"models", "check"} <= set(tool.select(["sql/models/entropy_l_diversity.sql"], tree).subjects)


VARIANT = "sql/models/enhanced_beta_likeness.sql"


def test_a_model_that_is_named_as_before_selects_what_names_it_and_what_goes_over_all(
    tool: ModuleType, tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / VARIANT).read_text(encoding="utf-8")
    monkeypatch.setattr(tool, "_git", lambda *arguments, check: text)
    found = tool.select([VARIANT], tree)
    assert found.everything == []
    assert {"models", "check"} <= set(found.subjects)
    paths = set(found.paths(tree))
    assert paths >= {
        "tests/contract/test_macros_models.py",
        "tests/golden/test_steps.py",
        "tests/migrations/test_migrations.py",
        "tests/properties/test_check.py",
        "tests/unit/test_docs.py",
    }
    assert {"tests/unit/test_stream.py", "tests/unit/test_kill.py"}.isdisjoint(paths)
    assert len(paths) < len(tree.tests) / 2


@pytest.mark.parametrize("former", ["", "-- model: beta_likeness\n-- when: variant = basic (default)\n"])
def test_a_model_that_is_new_or_had_another_name_selects_what_the_modules_that_load_it_select(
    tool: ModuleType, tree: Any, monkeypatch: pytest.MonkeyPatch, former: str
) -> None:
    monkeypatch.setattr(tool, "_git", lambda *arguments, check: former)
    found = tool.select([VARIANT], tree)
    assert found.everything == []
    assert set(tool.select(["sqlanon/sql/questions/load.py"], tree).paths(tree)) <= set(found.paths(tree))


def test_a_model_that_all_modules_name_selects_what_the_modules_that_load_it_select(
    tool: ModuleType, tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "sql/models/k_anonymity.sql"
    text = (ROOT / path).read_text(encoding="utf-8")
    monkeypatch.setattr(tool, "_git", lambda *arguments, check: text)
    assert set(tool.select(["sqlanon/sql/questions/load.py"], tree).paths(tree)) <= set(
        tool.select([path], tree).paths(tree)
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("REQUIRE l_diversity(l => 2, variant => 'entropy')", True),
        ("entropy_l_diversity", True),
        ("REQUIRE l_diversity(l => 2)", False),
        ("the entropy of a class", False),
    ],
)
def test_a_variant_is_named_by_its_word(tool: ModuleType, text: str, named: bool) -> None:
    files = {name: (ROOT / f"sql/models/{name}.sql").read_text() for name in ("entropy_l_diversity", "k_map")}
    assert tool.Model.read("entropy_l_diversity", files["entropy_l_diversity"]).is_named_in(text) is named
    assert tool.Model.read("k_map", files["k_map"]).is_named_in("anon.k_map(a)")
    assert tool.Model.read("k_map", "SELECT 1") is None
    # The default is written without its word.
    default = (ROOT / "sql/models/distinct_l_diversity.sql").read_text()
    assert tool.Model.read("distinct_l_diversity", default).is_named_in("l_diversity(l => 2)")


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("tests/unit/test_pivot.py", "tests/unit/test_pivot.py"),
        ("tests/oracles/mondrian.py", "tests/unit/test_mondrian_oracle.py"),
        ("tests/golden/mondrian/a_new_case.sql", "tests/golden/test_steps.py"),
        ("docs/choosing.md", "tests/contract/test_limits.py"),
        ("docs/choosing.md", "tests/unit/test_docs.py"),
        ("Makefile", "tests/packaging/test_makefile.py"),
        ("benchmarks/cases/latency.py", "tests/packaging/test_tree.py"),
    ],
)
def test_another_file_selects_the_tests_that_use_it(tool: ModuleType, tree: Any, path: str, selected: str) -> None:
    found = tool.select([path], tree)
    assert not found.everything
    assert selected in found.paths(tree)
    assert len(found.paths(tree)) < len(tree.tests) / 3


@pytest.mark.parametrize(
    "path",
    [
        "pyproject.toml",
        "tests/conftest.py",
        "sqlanon/statements/run.py",
        "sqlanon/__init__.py",
        "sqlanon/a_new_part/module.py",
        "udfs/random_draw.py",
        "sql/a_new_folder/of_nobody/query.sql",
        "a file that nobody knows",
    ],
)
def test_what_may_concern_any_test_selects_everything(tool: ModuleType, tree: Any, path: str) -> None:
    assert tool.select(["tests/unit/test_pivot.py", path], tree).everything


def test_subjects_that_are_left_out_are_named(tool: ModuleType, tree: Any) -> None:
    found = tool.select(["sqlanon/methods/shared/arguments.py"], tree)
    assert found.beyond - found.subjects.keys()
    [line] = [line for line in tool._told(found, []) if "make test runs them" in line]
    assert all(subject in line for subject in found.beyond - found.subjects.keys())


def test_few_test_files_are_named(tool: ModuleType, tree: Any) -> None:
    found = tool.select(["docs/choosing.md"], tree)
    assert any("tests/unit/test_docs.py" in line for line in tool._told(found, found.paths(tree)))
    assert list(tool._told(found, ["a.py"] * (tool.NAMED + 1))) == [f"  {tool.NAMED + 1} test files"]


def test_a_tree_without_changes_runs_no_test(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "changed_files", lambda since: ("0123456789abcdef", []))
    monkeypatch.setattr("sys.argv", ["changed_tests.py"])
    tool.main()
    assert capsys.readouterr().out.startswith("No file differs from 0123456789ab, so no test is run;")


def test_a_commit_that_is_not_there_is_named(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["changed_tests.py", "--since=no-such-commit"])
    with pytest.raises(SystemExit, match="git cannot compare with no-such-commit: "):
        tool.main()


def test_new_and_uncommitted_files_are_changes(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    for name in ("kept", "changed", "deleted", "old_name"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "-m", "first")
    git("switch", "-c", "branch")
    (tmp_path / "committed").write_text("")
    git("add", ".")
    git("mv", "old_name", "new_name")
    git("commit", "-m", "second")
    (tmp_path / "changed").write_text("otherwise")
    (tmp_path / "deleted").unlink()
    (tmp_path / "new").write_text("")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.changed_files(None)[1] == ["changed", "committed", "deleted", "new", "new_name", "old_name"]
    assert tool.changed_files("HEAD")[1] == ["changed", "deleted", "new"]
