"""Promises of the host itself: who administers it, what it says when a part is down, how it bears a crowd."""

from __future__ import annotations

from tests.promises.requirement import Requirement

SERVING = (
    Requirement(
        "tokens-by-consent",
        "Programs get tokens only with the owner's consent: OAuth with PKCE, rotating refresh tokens, device flow.",
        "issue 3.2; xmemo 5.1",
        ("api_oauth/",),
    ),
    Requirement(
        "clean-end",
        "A process that ends while the model is still loading ends with its own exit code, not with an abort.",
        "issue 2.9",
        ("upkeep/test_warming.py",),
    ),
    Requirement(
        "administration",
        "Tokens, teams and spaces are administered by those who may, also while a host serves the folder.",
        "issue 3.4",
        ("cli/test_administration.py", "upkeep/test_administration.py", "api/test_terminal_beside_host.py"),
    ),
    Requirement(
        "outage-over-rest",
        "A part that is down is told as an outage with Retry-After, and health says so, never as nothing found.",
        "issue 3.3; design 9",
        ("api/test_outage.py",),
    ),
    Requirement(
        "crowd",
        "Many clients at once lose no write, meet no lock error and leave truth and index equal.",
        "issue 3",
        ("api/test_concurrency.py", "api/test_guards.py::test_a_kill_loses_no_acknowledged_write"),
    ),
    Requirement(
        "same-key-same-answer-over-rest",
        "A repeated write with its idempotency key gets its first answer, also when its body comes reshaped.",
        "issue 3.5; xmemo 2.4",
        (
            "api/test_hermes_client.py::test_a_replay_with_a_reshaped_body_is_the_first_answer",
            "api/test_hermes_client.py::test_remember_with_one_key_writes_once",
            "api/test_rest_core.py::test_a_repeated_delete_with_its_key_gets_the_first_answer",
            "api/test_rest_core.py::test_a_key_whose_record_was_removed_for_good_writes_anew",
        ),
    ),
)
