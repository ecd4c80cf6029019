"""The house keeps its plan: imports run one way, files stay readable, nothing is left half done.

Imports are read with `ast`, so a module is checked without being imported. Every module belongs to
a *room* (`engine.text`, `api`, ...). `ALLOWED` lists, for every room, the rooms it may import; the
order of the table is the direction of the plan. A missing edge is a forbidden one. Upkeep stands on
writing: what it repairs and expires goes through the same lock as every other write. The host
(`api`) mounts the MCP server, and the command line starts the host; surfaces meet nowhere else.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "api", "mcp_profiles", "cli", "benchmarks", "tests")
LINE_LIMIT = 500

GROUND = frozenset({"engine.errors", "engine.domain"})
VALUES = GROUND | {"engine.settings", "engine.text", "engine.embedding"}
DERIVED = VALUES | {"engine.store", "engine.index"}
VERBS = DERIVED | {"engine.retrieval", "engine.writing", "engine.upkeep"}
FACADE = GROUND | {"engine", "engine.engine", "engine.settings", "engine.upkeep", "engine.companion"}

ALLOWED: dict[str, frozenset[str]] = {
    "engine.errors": frozenset(),
    "engine.settings": frozenset(),
    "engine.domain": frozenset({"engine.errors"}),
    "engine.text": GROUND,
    "engine.embedding": GROUND | {"engine.settings", "engine.text"},
    "engine.store": VALUES,
    "engine.index": VALUES,
    "engine.retrieval": DERIVED,
    "engine.writing": DERIVED,
    "engine.upkeep": DERIVED | {"engine.writing"},
    "engine.engine": VERBS,
    "engine.companion": VERBS | {"engine.engine"},
    "engine": VERBS | {"engine.engine"},
    "mcp_profiles": FACADE,
    "api": FACADE | {"mcp_profiles"},
    "cli": FACADE | {"api", "mcp_profiles"},
    "benchmarks": VERBS | FACADE,
    "tests": VERBS | FACADE | {"api", "mcp_profiles", "cli", "benchmarks"},
}

SETTINGS_READERS = frozenset({"api", "mcp_profiles", "cli", "benchmarks", "tests"})
"""Composition roots: the only rooms that may read the environment by calling `Settings()`."""


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, its room, its text and its syntax tree."""

    name: str
    room: str
    path: Path
    text: str
    tree: ast.Module


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the house, in a stable order."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            found.append(Module(name, room_of(name), path, text, ast.parse(text, str(path))))
    return tuple(found)


def room_of(name: str) -> str:
    """The room that a dotted module name lies in."""
    package, _, rest = name.partition(".")
    return f"engine.{rest.split('.')[0]}" if package == "engine" and rest else package


def imported(module: Module) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that `module` imports, wherever the statement stands."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            if base in PACKAGES:
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names if is_room(base, alias.name))
                yield from ((node.lineno, base) for alias in node.names if not is_room(base, alias.name))
            else:
                yield node.lineno, base


def absolute(module: Module, node: ast.ImportFrom) -> str:
    """The dotted name that a `from` import starts at; relative ones are resolved."""
    if not node.level:
        return node.module or ""
    is_package = module.path.name == "__init__.py"
    parts = module.name.split(".")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def is_room(package: str, name: str) -> bool:
    """Whether `from package import name` names a module rather than a value."""
    return (ROOT / package / name).is_dir() or (ROOT / package / f"{name}.py").is_file()


def by_name(module: Module) -> str:
    return module.name


@pytest.mark.parametrize("module", modules(), ids=by_name)
def test_imports_follow_the_direction_of_the_house(module: Module) -> None:
    rooms = {(line, room_of(name)) for line, name in imported(module) if name.split(".")[0] in PACKAGES}
    forbidden = [
        f"{module.path.relative_to(ROOT)}:{line} imports {room}"
        for line, room in sorted(rooms)
        if room != module.room and room not in ALLOWED[module.room]
    ]
    assert not forbidden, f"{module.room} may import only {sorted(ALLOWED[module.room])}"


def test_every_room_stands_in_the_table_of_allowed_edges() -> None:
    assert {module.room for module in modules()} <= set(ALLOWED)


def test_the_table_of_allowed_edges_has_no_cycle() -> None:
    order = list(ALLOWED)
    for room, targets in ALLOWED.items():
        later = {target for target in targets if order.index(target) > order.index(room)}
        assert not later, f"{room} would import upward: {sorted(later)}"


def test_the_domain_needs_nothing_but_the_standard_library() -> None:
    foreign = [
        f"{module.name} imports {name}"
        for module in modules()
        if module.room in {"engine.domain", "engine.errors"}
        for _, name in imported(module)
        if name.split(".")[0] not in sys.stdlib_module_names | {"engine"}
    ]
    assert not foreign


def test_only_composition_roots_read_the_environment() -> None:
    readers = [
        f"{module.path.relative_to(ROOT)}:{node.lineno}"
        for module in modules()
        if module.room not in SETTINGS_READERS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Settings"
    ]
    assert not readers


@pytest.mark.parametrize(
    ("name", "statement", "room"),
    [
        ("engine.text.folding", "from engine.store import schema", "engine.store"),
        ("engine.domain.query", "def late():\n    from ..text import folding", "engine.text"),
        ("api.app", "import cli.main", "cli"),
        ("cli.main", "from engine.index import fake", "engine.index"),
        ("engine.engine", "from benchmarks import speed", "benchmarks"),
    ],
)
def test_a_forbidden_import_is_seen_wherever_it_stands(name: str, statement: str, room: str) -> None:
    path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
    module = Module(name, room_of(name), path, statement, ast.parse(statement))
    assert room in {room_of(target) for _, target in imported(module)} - ALLOWED[module.room]


@pytest.mark.parametrize("module", modules(), ids=by_name)
def test_a_long_file_says_why_it_is_long(module: Module) -> None:
    lines = module.text.count("\n")
    docstring = (ast.get_docstring(module.tree) or "").casefold()
    assert lines <= LINE_LIMIT or "lines because" in docstring, f"{lines} lines and no sentence that says why"


@pytest.mark.parametrize("module", modules(), ids=by_name)
def test_a_module_with_code_states_its_duty(module: Module) -> None:
    has_code = any(not isinstance(node, ast.Import | ast.ImportFrom) for node in module.tree.body)
    names_of_tests_say_it = module.path.name.startswith("test_")
    assert not has_code or names_of_tests_say_it or ast.get_docstring(module.tree), "no module docstring"


@pytest.mark.parametrize("module", modules(), ids=by_name)
def test_no_comment_puts_work_off(module: Module) -> None:
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
    with module.path.open("rb") as source:
        comments = [token for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT]
    left = [f"line {token.start[0]}: {token.string}" for token in comments if any(w in token.string for w in words)]
    assert not left


@pytest.mark.parametrize("module", modules(), ids=by_name)
def test_no_module_is_a_drawer_for_anything(module: Module) -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
    assert not drawers & set(module.name.split("."))
