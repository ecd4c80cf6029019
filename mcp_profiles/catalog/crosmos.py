"""The four tools of the Crosmos contract."""

from __future__ import annotations

from engine.domain.source import MESSAGES_LIMIT, SOURCE_LIMIT_CHARACTERS, SOURCES_LIMIT
from mcp_profiles.catalog import parameters as p
from mcp_profiles.parameter import Kind, Parameter
from mcp_profiles.tool import Effect, Tool

ROLE_CHARACTERS = 50

_SPACE_ID = p.text("space_id", "UUID of the memory space; unset: the default space.")


def _content(description: str) -> Parameter:
    return Parameter(
        name="content",
        kind=Kind.TEXT,
        description=description,
        required=True,
        max_characters=SOURCE_LIMIT_CHARACTERS,
    )


_META = Parameter(name="meta", kind=Kind.OBJECT, description="Fields of your own.")

SEARCH_MEMORIES = Tool(
    name="search_memories",
    title="Search memories",
    description="Looks up what is stored about a question. Use it before answering from prior context.",
    effect=Effect.READS,
    parameters=(
        p.text("query", "The search query.", required=True),
        _SPACE_ID,
        p.count("limit", "Most memories to return.", 10),
    ),
)

_SOURCE = (
    _content("The raw text."),
    p.text("content_type", "text or markdown.", default="text"),
    Parameter(name="role", kind=Kind.TEXT, description="Role of the speaker.", max_characters=ROLE_CHARACTERS),
    Parameter(name="sequence", kind=Kind.INTEGER, description="Order within the batch.", default=0, minimum=0),
    _META,
)
_MESSAGE = (
    Parameter(
        name="role", kind=Kind.TEXT, description="Role of the speaker.", required=True, max_characters=ROLE_CHARACTERS
    ),
    _content("What was said."),
)
_CONVERSATION = (
    Parameter(
        name="messages",
        kind=Kind.OBJECTS,
        description="The messages in order.",
        required=True,
        fields=_MESSAGE,
        max_items=MESSAGES_LIMIT,
    ),
    p.text("session_id", "Id of the conversation."),
    p.moment("session_date", "ISO time of the session."),
    _META,
    Parameter(
        name="segment_size",
        kind=Kind.INTEGER,
        description="Messages in one segment.",
        default=4,
        minimum=1,
        maximum=20,
    ),
    Parameter(
        name="lookback",
        kind=Kind.INTEGER,
        description="Segments before it that count as context.",
        default=4,
        minimum=0,
        maximum=20,
    ),
)

ADD_MEMORY = Tool(
    name="add_memory",
    title="Add memory",
    description="Stores raw sources or a conversation. Give exactly one of sources and messages.",
    effect=Effect.WRITES,
    parameters=(
        _SPACE_ID,
        Parameter(
            name="sources",
            kind=Kind.OBJECTS,
            description="Raw texts to store.",
            fields=_SOURCE,
            max_items=SOURCES_LIMIT,
        ),
        Parameter(name="messages", kind=Kind.OBJECT, description="A conversation to store.", fields=_CONVERSATION),
    ),
)

HEALTH_CHECK = Tool(
    name="health_check",
    title="Health check",
    description="Says whether the memory engine answers.",
    effect=Effect.READS,
)

LIST_SPACES = Tool(
    name="list_spaces",
    title="List spaces",
    description="Lists the memory spaces that you may use, with their ids.",
    effect=Effect.READS,
)

TOOLS = (SEARCH_MEMORIES, ADD_MEMORY, HEALTH_CHECK, LIST_SPACES)
