"""Promises about MCP: profiles, texts, transports, and what is installed into agents."""

from __future__ import annotations

from tests.promises.requirement import Requirement

TOOLS = (
    Requirement(
        "own-profiles",
        "A user's own file makes a profile; what is wrong with it is said, and it is never half believed.",
        "issue 4.1",
        ("mcp/test_profile_files.py",),
    ),
    Requirement(
        "arguments-read-kindly",
        "Null, empty and textual arguments are read as meant; nothing that a client sends brings a tool down.",
        "issue 4.2",
        ("mcp/test_arguments.py",),
    ),
    Requirement(
        "plain-schemas",
        "Tool schemas have plain types only, true hints, and cost few tokens.",
        "issue 4.4",
        ("mcp/test_listing.py", "case:B7-20"),
    ),
    Requirement(
        "tool-texts",
        "Answers are the engine's, with place and confidence; a no-match says so and forbids guessing.",
        "issue 4.3",
        ("mcp/test_answers.py", "mcp/test_field_cases.py", "case:B7-23", "case:B7-26"),
    ),
    Requirement(
        "mcp-transports",
        "Real MCP clients of two makes list and call every tool over stdio and HTTP.",
        "issue 4.5",
        ("mcp/test_http.py", "mcp/test_stdio.py", "mcp/test_typescript_client.py"),
    ),
    Requirement(
        "quick-and-quiet-stdio",
        "Stdio answers before anything is loaded and prints nothing but protocol.",
        "issue 4.5",
        (
            "mcp/test_stdio.py::test_the_first_answers_come_before_anything_is_loaded",
            "mcp/test_stdio.py::test_stdout_carries_nothing_but_protocol",
        ),
    ),
    Requirement(
        "many-agents-one-folder",
        "Any number of agents share a folder; the death of its host costs no write.",
        "design 1.6",
        (
            "mcp/test_stdio.py::test_many_processes_share_a_folder_while_its_host_is_killed",
            "mcp/test_stdio.py::test_a_killed_host_costs_no_call_and_no_write",
        ),
    ),
    Requirement(
        "installed-with-care",
        "Installing shows the change, asks, keeps a copy and leaves the rest of the file as it was.",
        "issue 4.7",
        ("mcp/test_install.py", "mcp/test_plugin.py"),
    ),
)
