"""Promises about who may see what."""

from __future__ import annotations

from tests.promises.requirement import Requirement

ACCESS = (
    Requirement(
        "isolation",
        "No surface returns a record that the caller may not read, nor any mark of it.",
        "design 7, 9",
        (
            "store/test_access.py::test_a_caller_reaches_exactly_what_the_rules_say",
            "index/test_searching.py::test_a_space_never_sees_another",
            "field_cases/test_field_cases.py::test_rows_that_the_caller_may_not_read_leave_no_mark_on_its_answer",
            "field_cases/test_field_cases.py::test_a_case_holds_however_its_rights_came_about",
            *("case:B3-20", "case:B3-21", "case:B3-22", "case:B3-24", "case:B3-27", "case:B3-28", "case:B3-29"),
            *("case:B3-30", "case:B3-31", "case:B3-33"),
        ),
    ),
    Requirement(
        "foreign-is-missing",
        "A foreign id or space answers exactly like one that does not exist.",
        "design 7",
        (
            "retrieval/test_search.py::test_a_foreign_space_answers_like_a_missing_one",
            "store/test_access.py::test_a_foreign_space_and_a_missing_one_read_alike",
            "writing/test_remember.py::test_an_id_of_another_space_is_refused_without_telling_whose",
            *("case:B3-23", "case:B3-25"),
        ),
    ),
    Requirement(
        "tokens-narrow",
        "A token only narrows its user's rights: scopes, spaces, reading without writing, expiry.",
        "design 7",
        (
            "store/test_tokens.py",
            "store/test_teams.py",
            "retrieval/test_search.py::test_a_token_without_the_read_scope_may_not_search",
            "writing/test_remember.py::test_a_token_without_the_write_scope_cannot_write",
            "writing/test_changes.py::test_a_reader_token_cannot_forget",
            "case:B3-26",
        ),
    ),
    Requirement(
        "permission-matrix",
        "Every route answers every kind of caller as one table says; nothing passes that should not.",
        "issue 3",
        ("api/test_permissions.py",),
    ),
    Requirement(
        "guarded-host",
        "The host checks Host and Origin, body sizes, rates and deadlines, and refuses to be public without tokens.",
        "design 7; issue 3.1",
        ("api/test_guards.py",),
    ),
    Requirement(
        "secrets",
        "Tokens and keys are stored as hashes and never shown in errors, reprs or logs.",
        "design 7",
        (
            "store/test_tokens.py::test_the_secret_is_neither_stored_nor_printed",
            "store/test_database.py::test_an_error_never_shows_a_password",
            "store/test_database.py::test_an_error_of_the_driver_never_shows_stored_text",
            "api/test_secrets.py",
            "embedding/test_openai_compatible.py::test_a_wrong_key_is_not_tried_again_and_appears_nowhere",
            "index/test_qdrant_server.py::test_a_url_of_another_form_is_refused_without_repeating_it",
        ),
    ),
    Requirement(
        "audit",
        "Writes, deletions and changes of rights are kept in a log that can only grow.",
        "issue 3.5",
        ("store/test_audit.py", "store/test_migrations.py::test_the_database_refuses_to_change_the_audit"),
    ),
    Requirement(
        "spaces",
        "Spaces have unique names, statistics of their own, and take all of their records with them when deleted.",
        "issue 2.2",
        ("store/test_spaces.py", "store/test_figures.py", "case:B4-19"),
    ),
)
