"""Tools that read memories."""

from __future__ import annotations

from dataclasses import replace

from mcp_profiles.catalog import parameters as p
from mcp_profiles.parameter import Kind, Parameter
from mcp_profiles.tool import Effect, Tool

SEARCH_MEMORY = Tool(
    name="search_memory",
    title="Search memory (strict)",
    description=(
        "Targeted lookup: returns only memories that answer the query, or says that none does. "
        "Use it when a weak match would mislead; for a loose lookup use recall."
    ),
    effect=Effect.READS,
    parameters=(
        p.QUERY,
        p.count("limit", "Most hits to return.", 5),
        p.PATH_FILTER,
        p.MEMORY_TYPE_FILTER,
        p.PREFER_WORKING,
        p.SCOPE_FILTER,
        p.TEAM_FILTER,
        p.EXPLAIN,
        p.AGENT_ID,
        p.AGENT_INSTANCE_ID,
    ),
)

RECALL = Tool(
    name="recall",
    title="Recall (best effort)",
    description="Quick forgiving lookup: the nearest memories, each labelled strong, likely or weak. Verify weak ones.",
    effect=Effect.READS,
    parameters=(
        p.QUERY,
        p.count("limit", "Most hits to return.", 5),
        p.EXPLAIN,
        p.MEMORY_TYPE_FILTER,
        p.PATH_FILTER,
        p.flag("prefer_working", "Put active working state first.", default=True),
        p.AGENT_ID,
        p.AGENT_INSTANCE_ID,
    ),
)

RECALL_CONTEXT = Tool(
    name="recall_context",
    title="Recall context",
    description="Packs several memories about a topic into one text within a token budget, for use as context.",
    effect=Effect.READS,
    parameters=(
        p.QUERY,
        Parameter(
            name="limit", kind=Kind.INTEGER, description="The same as max_items.", minimum=1, maximum=100, most=1000
        ),
        p.SCOPE_FILTER,
        p.BUCKET_FILTER,
        p.TEAM_FILTER,
        p.AGENT_ID,
        p.AGENT_INSTANCE_ID,
        p.count("max_items", "Most memories to pack.", 8),
        p.count("max_tokens", "Budget of the whole text.", 2000, maximum=100_000),
        replace(p.MEMORY_TYPE_FILTER, default="auto"),
        p.OUTPUT_JSON,
        p.PATH_FILTER,
        p.flag("prefer_working", "Put active working state first.", default=True),
    ),
)

RECALL_PLAN = Tool(
    name="recall_plan",
    title="Plan a recall",
    description="Says what a query would be answered from, without the texts: counts, paths and how sure it is.",
    effect=Effect.READS,
    parameters=(
        p.QUERY,
        p.SCOPE_FILTER,
        p.BUCKET_FILTER,
        p.TEAM_FILTER,
        p.MEMORY_TYPE_FILTER,
        p.OUTPUT_JSON,
        p.PATH_FILTER,
        p.PREFER_WORKING,
    ),
)

EXPLAIN_MEMORY = Tool(
    name="explain_memory",
    title="Explain a memory",
    description="Shows one memory; with a query, how strict search judges it.",
    effect=Effect.READS,
    parameters=(
        p.MEMORY_ID,
        p.text("query", "Question to judge it by."),
        p.OUTPUT_JSON,
        p.flag("include_embedding", "Add its vector."),
    ),
)

LIST_MEMORY_VERSIONS = Tool(
    name="list_memory_versions",
    title="List versions of a memory",
    description="Former states of one memory, newest first.",
    effect=Effect.READS,
    parameters=(p.MEMORY_ID,),
)

GET_MCP_IDENTITY = Tool(
    name="get_mcp_identity",
    title="Who am I",
    description="Shows whose memory this is and what you may do.",
    effect=Effect.READS,
)

_STATISTICS = (
    p.MEMORY_TYPE_FILTER,
    p.SINCE,
    p.UNTIL,
    p.text("group_by", "Comma list of path, type, status, source, bucket, day."),
    p.count("top_n", "Most groups of each kind.", 10, maximum=200),
    p.PATH_FILTER,
    p.SCOPE_FILTER,
)
_ACTIVITY_TYPE = p.choice(
    "activity_type",
    "Which activity.",
    ("all", "writes", "deletions", "reads", "reminders", "ledger", "timeline"),
    "all",
)
_INCLUDE_TIMELINE = p.flag("include_timeline", "Include timeline events.", default=True)

MEMORY_STATS = Tool(
    name="memory_stats",
    title="Memory statistics",
    description="Counts of what is stored, by type, path and status.",
    effect=Effect.READS,
    parameters=(*_STATISTICS, p.OUTPUT_JSON),
)

MEMORY_ACTIVITY = Tool(
    name="memory_activity",
    title="Memory activity",
    description="What was written and changed lately, newest first.",
    effect=Effect.READS,
    parameters=(
        _ACTIVITY_TYPE,
        p.SINCE,
        p.UNTIL,
        p.count("limit", "Most entries.", 10),
        _INCLUDE_TIMELINE,
        p.OUTPUT_JSON,
    ),
)

MEMORY_OVERVIEW = Tool(
    name="memory_overview",
    title="Memory overview",
    description="Counts and latest activity at a glance.",
    effect=Effect.READS,
    parameters=(
        p.choice("section", "Which part.", ("overview", "stats", "activity"), "overview"),
        *_STATISTICS,
        _ACTIVITY_TYPE,
        p.count("limit", "Most entries.", 10),
        _INCLUDE_TIMELINE,
        p.OUTPUT_JSON,
    ),
)

TOOLS = (
    GET_MCP_IDENTITY,
    RECALL,
    SEARCH_MEMORY,
    RECALL_CONTEXT,
    RECALL_PLAN,
    EXPLAIN_MEMORY,
    LIST_MEMORY_VERSIONS,
    MEMORY_STATS,
    MEMORY_ACTIVITY,
    MEMORY_OVERVIEW,
)
