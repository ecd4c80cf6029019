"""A profile: which tools exist for a client, which parameters each exposes, and in which words.

A profile is data, a TOML (or YAML) file. The built-in ones lie in `profiles/`; a user's own lie in
`<data_dir>/profiles/` or are named by their path.

    name = "mine"
    title = "Team memory"                # shown as the server's title
    instructions = "Search before you answer."
    read_only = false                    # true: tools that write are left out
    unknown_arguments = "refuse"         # or "ignore", for clients that send more than is listed
    schema_bounds = true                 # false: schemas leave out bounds of numbers and lengths
    no_match_advice = "Ask the user."    # unset: advice that fits the listed tools

    [tools.search_memory]                # in the order in which they are listed
    parameters = ["query", "limit"]      # unset: all that the tool knows
    description = "..."                  # unset: the catalogue's
    defaults = { limit = 3 }
    maximums = { limit = 10 }
    descriptions = { query = "..." }

`load` reads one and `problems` says everything that is wrong with it; a profile with problems does
not load.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import InvalidRequest, NotFound, SetupError
from mcp_profiles.catalog import CATALOG
from mcp_profiles.parameter import ABSENT, Kind, Parameter
from mcp_profiles.tool import Effect, Tool

DEFAULT_PROFILE = "generic"
BUILT_IN_FOLDER = Path(__file__).parent / "profiles"
ALIASES: Mapping[str, str] = {"claude-plugin": "claude"}
SUFFIXES = (".toml", ".yaml", ".yml")

_PROFILE_KEYS = frozenset(
    {
        *("name", "title", "instructions", "read_only", "unknown_arguments", "schema_bounds", "no_match_advice"),
        "tools",
    }
)
_TOOL_KEYS = frozenset({"parameters", "description", "defaults", "maximums", "descriptions"})
_UNKNOWN_CHOICES = ("refuse", "ignore")


@dataclass(frozen=True, slots=True)
class Exposure:
    """One tool as a profile shows it. `parameters` are the exposed ones, in the profile's words."""

    tool: Tool
    description: str
    parameters: tuple[Parameter, ...]

    @property
    def name(self) -> str:
        return self.tool.name

    def parameter(self, name: str) -> Parameter | None:
        """The exposed parameter of this name."""
        return next((each for each in self.parameters if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Profile:
    """A declaration, checked. `refuses_unknown`: arguments that are not exposed are refused by name."""

    name: str
    title: str
    instructions: str
    exposures: tuple[Exposure, ...]
    refuses_unknown: bool = True
    schema_bounds: bool = True
    no_match_advice: str | None = None

    def exposure(self, name: str) -> Exposure | None:
        """The tool of this name, if the profile lists it."""
        return next((each for each in self.exposures if each.name == name), None)

    @property
    def writes(self) -> bool:
        """Whether any listed tool changes what is stored."""
        return any(each.tool.effect is not Effect.READS for each in self.exposures)


def names(data_dir: Path | None = None) -> tuple[str, ...]:
    """All names that `load` knows without a path: built-in ones, aliases, and those of a data folder."""
    own = {path.stem for path in _own_files(data_dir)}
    return tuple(sorted({*built_in_names(), *ALIASES, *own}))


def load(name: str, data_dir: Path | None = None) -> Profile:
    """A profile by name or by the path of its file.

    Raises `NotFound` for an unknown name and `SetupError` for a file that is no sound profile.
    """
    is_path = name.endswith(SUFFIXES) or "/" in name
    return parse(Path(name)) if is_path else named(name, data_dir)


def named(name: str, data_dir: Path | None = None) -> Profile:
    """A built-in profile or one of the data folder, by its name only.

    Raises `NotFound` for an unknown name and `SetupError` for a file that is no sound profile.
    """
    known = ALIASES.get(name, name)
    if known in built_in_names():
        return _built_in(known)
    own = next((path for path in _own_files(data_dir) if path.stem == known), None)
    if own is None:
        raise NotFound(f"no profile is called {name!r}; there are {', '.join(names(data_dir))}")
    return parse(own)


@cache
def _built_in(name: str) -> Profile:
    return parse(BUILT_IN_FOLDER / f"{name}.toml")


@cache
def built_in_names() -> tuple[str, ...]:
    """Names of the profiles that come with Memvouch."""
    return tuple(sorted(path.stem for path in BUILT_IN_FOLDER.glob("*.toml")))


def parse(path: Path) -> Profile:
    """The profile in a file. Raises `SetupError` with everything that is wrong with it."""
    document = read_document(path)
    if found := list(problems(document)):
        raise SetupError(f"{path} is no sound profile: {'; '.join(found)}")
    return _profile(document)


def read_document(path: Path) -> dict[str, Any]:
    """A profile file as plain values. Raises `SetupError` for one that cannot be read or parsed."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error
    try:
        document = tomllib.loads(text) if path.suffix == ".toml" else _yaml(text)
    except ValueError as error:
        raise SetupError(f"{path} does not parse: {error}") from error
    if not isinstance(document, dict):
        raise SetupError(f"{path} is no mapping of keys to values")
    return document


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Everything that is wrong with a profile, one sentence each."""
    yield from (f"there is no key {key!r}" for key in document if key not in _PROFILE_KEYS)
    for key in ("name", "instructions"):
        if not isinstance(document.get(key), str) or not document[key].strip():
            yield f"{key} must be a text"
    for key in ("title", "no_match_advice"):
        if not isinstance(document.get(key, ""), str):
            yield f"{key} must be a text"
    for key in ("read_only", "schema_bounds"):
        if not isinstance(document.get(key, False), bool):
            yield f"{key} must be true or false"
    if document.get("unknown_arguments", "refuse") not in _UNKNOWN_CHOICES:
        yield f"unknown_arguments must be one of {', '.join(_UNKNOWN_CHOICES)}"
    tools = document.get("tools")
    if not isinstance(tools, dict) or not tools:
        yield "tools must name at least one tool"
        return
    for name, entry in tools.items():
        yield from (f"{name}: {problem}" for problem in _tool_problems(name, entry))


def _tool_problems(name: str, entry: Any) -> Iterator[str]:
    tool = CATALOG.get(name)
    if tool is None:
        yield "there is no such tool"
        return
    if not isinstance(entry, dict):
        yield "must be a table"
        return
    yield from (f"there is no key {key!r}" for key in entry if key not in _TOOL_KEYS)
    if not isinstance(entry.get("description", ""), str):
        yield "description must be a text"
    exposed = entry.get("parameters", [each.name for each in tool.parameters])
    if not isinstance(exposed, list) or not all(isinstance(each, str) for each in exposed):
        yield "parameters must be a list of names"
        return
    yield from (f"there is no parameter {each!r}" for each in exposed if tool.parameter(each) is None)
    missing = [each.name for each in tool.parameters if each.required and each.name not in exposed]
    yield from (f"parameter {each!r} is required, so it must be exposed" for each in missing)
    for key in ("defaults", "maximums", "descriptions"):
        table = entry.get(key, {})
        if not isinstance(table, dict):
            yield f"{key} must be a table"
            continue
        for parameter_name, value in table.items():
            parameter = tool.parameter(parameter_name)
            if parameter is None:
                yield f"{key}: there is no parameter {parameter_name!r}"
            elif problem := _override_problem(key, parameter, value):
                yield f"{key}: {problem}"


def _override_problem(key: str, parameter: Parameter, value: Any) -> str | None:
    if key == "descriptions":
        return None if isinstance(value, str) and value.strip() else f"{parameter.name} must be a text"
    if key == "maximums":
        is_number = parameter.kind in (Kind.INTEGER, Kind.NUMBER) and isinstance(value, int | float)
        return None if is_number and not isinstance(value, bool) else f"{parameter.name} takes no such maximum"
    if parameter.required:
        return f"{parameter.name} is required and has no default"
    try:
        return f"{parameter.name} has no value there" if parameter.read(value) is ABSENT else None
    except InvalidRequest as error:
        return str(error)


def _profile(document: Mapping[str, Any]) -> Profile:
    read_only = document.get("read_only", False)
    exposures = (_exposure(CATALOG[name], entry) for name, entry in document["tools"].items())
    return Profile(
        name=document["name"],
        title=document.get("title", "Memvouch"),
        instructions=" ".join(document["instructions"].split()),
        exposures=tuple(each for each in exposures if not read_only or each.tool.effect is Effect.READS),
        refuses_unknown=document.get("unknown_arguments", "refuse") == "refuse",
        schema_bounds=document.get("schema_bounds", True),
        no_match_advice=document.get("no_match_advice"),
    )


def _exposure(tool: Tool, entry: Mapping[str, Any]) -> Exposure:
    exposed = entry.get("parameters", [each.name for each in tool.parameters])
    found = []
    for parameter in (each for each in tool.parameters if each.name in exposed):
        changes: dict[str, Any] = {}
        if parameter.name in entry.get("defaults", {}):
            changes["default"] = parameter.read(entry["defaults"][parameter.name])
        if parameter.name in entry.get("maximums", {}):
            changes["maximum"] = entry["maximums"][parameter.name]
        if parameter.name in entry.get("descriptions", {}):
            changes["description"] = entry["descriptions"][parameter.name]
        found.append(replace(parameter, **changes))
    return Exposure(tool, entry.get("description", tool.description), tuple(found))


def _own_files(data_dir: Path | None) -> list[Path]:
    if data_dir is None:
        return []
    return sorted(path for suffix in SUFFIXES for path in (data_dir / "profiles").glob(f"*{suffix}"))


def _yaml(text: str) -> Any:
    # Loaded only for a user's own YAML file: no built-in profile and no other start pays for it.
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
