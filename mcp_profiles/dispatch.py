"""From a tool's name and arguments to its answer: the one way through which every profile goes.

1. A tool that the profile does not list does not exist.
2. Every argument that was sent is looked up among the exposed parameters. Another one is refused by
   name if the tool knows it but the profile does not expose it, or if the tool reads: a dropped
   filter answers another question. A tool that writes goes on without an argument that nothing
   knows, and says so. A profile that ignores unknown arguments takes what the tool knows.
3. Values are checked and made plain; parameters that were not given get their defaults.
4. The handler runs. An error of ours becomes a text with `isError`; nothing becomes a protocol error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import InvalidRequest, MemvouchError, NotFound
from mcp_profiles import render
from mcp_profiles.call import Answer, Call
from mcp_profiles.catalog import crosmos as crosmos_catalog
from mcp_profiles.handlers import HANDLERS, crosmos
from mcp_profiles.parameter import read_object
from mcp_profiles.profile import Exposure, Profile
from mcp_profiles.tool import Effect

_NAMED_ARGUMENTS = 10
_NAME_CHARACTERS = 64
_CROSMOS_TOOLS = frozenset(tool.name for tool in crosmos_catalog.TOOLS)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What goes back to the client. `values` is empty exactly for an error."""

    text: str
    values: Mapping[str, Any]
    is_error: bool

    def wire(self) -> dict[str, Any]:
        """The result of `tools/call`. The structured answer fits the tool's output schema; an error has none."""
        found: dict[str, Any] = {"content": [{"type": "text", "text": self.text}], "isError": self.is_error}
        return found if self.is_error else found | {"structuredContent": {"result": self.text, **self.values}}


def dispatch(call: Call, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Run one tool. Never raises for anything that a client can send."""
    exposure = call.profile.exposure(name)
    if exposure is None:
        listed = ", ".join(each.name for each in call.profile.exposures)
        return failed(render.error(NotFound(f"there is no tool {shown(name)}; there are {listed}")))
    try:
        given, ignored = read_arguments(call.profile, exposure, arguments)
    except InvalidRequest as error:
        return failed(crosmos.argument_error_text(name, error) if name in _CROSMOS_TOOLS else render.error(error))
    try:
        answer = HANDLERS[name](call, given)
    except MemvouchError as error:
        return failed(crosmos.error_text(name, error) if name in _CROSMOS_TOOLS else render.error(error))
    return _succeeded(answer, ignored)


def read_arguments(
    profile: Profile, exposure: Exposure, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """All of the tool's parameters by name, and the names of arguments that were left out.

    Raises `InvalidRequest` that names the argument at fault.
    """
    tool = exposure.tool
    accepted = exposure.parameters
    if not profile.refuses_unknown:
        exposed = {each.name for each in accepted}
        accepted = (*accepted, *(each for each in tool.parameters if each.name not in exposed))
    known = {each.name for each in accepted}
    ignored = tuple(shown(each) for each in arguments if each not in known)
    if ignored and profile.refuses_unknown and tool.parameters:
        for each in arguments:
            if each not in known and (tool.effect is Effect.READS or tool.parameter(each) is not None):
                raise _unexposed(profile, exposure, each)
    given = {each.name: each.default for each in tool.parameters}
    given |= read_object(accepted, arguments)
    return given, ignored if profile.refuses_unknown and tool.parameters else ()


def _unexposed(profile: Profile, exposure: Exposure, name: str) -> InvalidRequest:
    names = [each.name for each in exposure.parameters]
    if exposure.tool.parameter(name) is not None:
        reason = f"is not a parameter of {exposure.name} in the profile {profile.name}"
    else:
        near = difflib.get_close_matches(name, names, n=1)
        reason = f"is not a parameter of {exposure.name}" + (f"; did you mean {near[0]}?" if near else "")
    return InvalidRequest(f"{shown(name)} {reason}. Its parameters are {', '.join(names)}", field=shown(name))


def shown(name: object) -> str:
    """A name that a client sent, safe to show."""
    return "".join(each if each.isprintable() else "?" for each in str(name)[:_NAME_CHARACTERS])


def _succeeded(answer: Answer, ignored: tuple[str, ...]) -> ToolResult:
    if not ignored:
        return ToolResult(answer.text, answer.values, is_error=False)
    named = ", ".join(ignored[:_NAMED_ARGUMENTS])
    return ToolResult(f"{answer.text} Ignored arguments: {named}.", {**answer.values, "ignored": list(ignored)}, False)


def failed(text: str) -> ToolResult:
    """An answer that says what went wrong."""
    return ToolResult(text, {}, is_error=True)
