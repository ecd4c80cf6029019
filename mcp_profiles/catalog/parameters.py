"""Parameters that several tools of the catalogue share."""

from __future__ import annotations

from engine.domain.memory import MAX_TTL_SECONDS, MemoryType, Status
from engine.domain.query import MATCH_ALL, MAX_LIMIT
from mcp_profiles.parameter import Kind, Parameter

LIMIT_ACCEPTED = 1000
"""Highest limit that is accepted; above `MAX_LIMIT` it is cut down, as over REST."""

TYPES = tuple(each.value for each in MemoryType)


def text(name: str, description: str, *, required: bool = False, default: str | None = None) -> Parameter:
    """A free text."""
    return Parameter(name=name, kind=Kind.TEXT, description=description, required=required, default=default)


def choice(name: str, description: str, choices: tuple[str, ...], default: str | None = None) -> Parameter:
    """A text out of a few."""
    return Parameter(name=name, kind=Kind.TEXT, description=description, choices=choices, default=default)


def flag(name: str, description: str, *, default: bool = False) -> Parameter:
    """True or false."""
    return Parameter(name=name, kind=Kind.BOOLEAN, description=description, default=default)


def count(name: str, description: str, default: int, *, minimum: int = 1, maximum: int = MAX_LIMIT) -> Parameter:
    """How many; more than the maximum is cut down to it, up to a point."""
    return Parameter(
        name=name,
        kind=Kind.INTEGER,
        description=description,
        default=default,
        minimum=minimum,
        maximum=maximum,
        most=max(LIMIT_ACCEPTED, maximum),
    )


def share(name: str, description: str) -> Parameter:
    """A number in 0..1."""
    return Parameter(name=name, kind=Kind.NUMBER, description=description, minimum=0, maximum=1)


def moment(name: str, description: str) -> Parameter:
    """A time."""
    return Parameter(name=name, kind=Kind.MOMENT, description=description)


def json_object(name: str, description: str) -> Parameter:
    """A JSON object, as text or as it is."""
    return Parameter(name=name, kind=Kind.JSON, description=description)


QUERY = text("query", "Plain words or an exact identifier.", required=True)
CONTENT = text("content", "The text to store.", required=True)
PATH = text("path", "Logical place such as team/release.", required=True)
MEMORY_ID = text("memory_id", "Id as answers show it.", required=True)
PATH_FILTER = text("path_filter", "Path with all below it, or ILIKE pattern (% any run).", default=MATCH_ALL)
MEMORY_TYPE_FILTER = text("memory_type", f"One of {', '.join(TYPES)}; % is any.", default=MATCH_ALL)
PREFER_WORKING = flag("prefer_working", "Put active working state first.")
EXPLAIN = flag("explain", "Say why each hit was returned.")
OUTPUT_JSON = flag("output_json", "Answer with the JSON of the REST API.")
SCOPE_FILTER = text("scope", "Only this scope, exactly.")
BUCKET_FILTER = text("bucket", "Only this bucket, exactly; % is any.", default=MATCH_ALL)
TEAM_FILTER = text("team_id", "Only this team's spaces.")
AGENT_ID = text("agent_id", "Name of the calling agent.")
AGENT_INSTANCE_ID = text("agent_instance_id", "Opaque id of the calling installation.")
SCOPE = text("scope", "Scope to store under.")
TEAM = text("team_id", "Store in this team's space.")
IMPORTANCE = share("importance", "How much it matters, 0 to 1.")
CONFIDENCE = share("confidence", "How sure you are of it, 0 to 1.")
EXPIRES_AT = moment("expires_at", "RFC 3339 time at which it disappears.")
DUE_AT = moment("due_at", "RFC 3339 time by which it is due.")
MEMORY_TYPE = choice("memory_type", "Kind of knowledge; auto decides.", ("auto", *TYPES), "auto")
SEMANTIC_KEY = text("semantic_key", "Names a concept: new content becomes its next version.")
METADATA_JSON = json_object("metadata_json", "JSON object of your own fields.")
PROVENANCE_JSON = json_object("provenance_json", "JSON object saying where it comes from.")
REASON = text("reason", "Why.")
STATE_KEY = text("state_key", "Name of the slot.", default="active_task")
SESSION_ID = text("session_id", "Session it belongs to.")
STATUS = choice("status", "New status.", (Status.ACTIVE.value, Status.ARCHIVED.value))
SINCE = moment("since", "Not before this RFC 3339 time.")
UNTIL = moment("until", "Before this RFC 3339 time.")
TTL_SECONDS = Parameter(
    name="ttl_seconds",
    kind=Kind.INTEGER,
    description="Seconds until it disappears; 0 is never.",
    minimum=0,
    maximum=MAX_TTL_SECONDS,
)


def bucket(default: str) -> Parameter:
    """The bucket to store in."""
    return text("bucket", "Bucket to store in.", default=default)
