"""Promises about the surfaces: REST, the companion records behind it, and MCP profiles."""

from __future__ import annotations

from tests.promises.requirement import Requirement

SURFACES = (
    Requirement(
        "xmemo-clients",
        "Published XMemo clients work against the REST surface unchanged.",
        "issue 3; xmemo",
        ("api/test_hermes_client.py", "api/test_agent_framework_client.py", "api/test_rest_core.py"),
    ),
    Requirement(
        "rest-is-the-engine",
        "REST answers what the engine answers: the same cases, ids and refusals, within its documented schema.",
        "issue 3",
        ("api/",),
    ),
    Requirement(
        "companion-records",
        "Events, reminders, decisions, snapshots and projects are records under the same rights and filters.",
        "issue 3.2; xmemo",
        ("companion/", "api_companion/", "store/test_groups.py"),
    ),
    Requirement(
        "oauth-by-consent",
        "An application or a device gets a token by an owner's consent only; a code or refresh token that comes "
        "twice ends everything that came of it; no secret is stored in clear.",
        "issue 3.2; xmemo 5.1",
        ("api_oauth/", "store/test_grants.py"),
    ),
    Requirement(
        "profiles-are-data",
        "A profile declares its tools and parameters; one that is not exposed is refused by name, never dropped.",
        "design 1.5; issue 4",
        ("mcp/test_arguments.py", "mcp/test_listing.py"),
    ),
    Requirement(
        "mcp-is-the-engine",
        "Every profile answers over MCP what the engine answers, and a no-match forbids guessing.",
        "issue 4",
        ("mcp/",),
    ),
)
