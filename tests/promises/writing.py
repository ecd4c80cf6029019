"""Promises about writing, forgetting and the truth in SQL."""

from __future__ import annotations

from tests.promises.requirement import Requirement

WRITING = (
    Requirement(
        "read-your-writes",
        "A memory can be found as soon as the write is answered, and an edited one by its new text only.",
        "design 5",
        (
            "writing/test_remember.py::test_a_memory_can_be_found_as_soon_as_remember_returns",
            "writing/test_changes.py::test_an_update_is_found_by_its_new_text_and_not_by_the_old",
            "writing/test_changes.py::test_a_moved_record_is_found_at_its_new_path_only",
            "index/test_writing.py::test_a_written_point_is_found_by_the_next_search",
            *("case:B5-03", "case:B5-08"),
        ),
    ),
    Requirement(
        "one-transaction",
        "A write is one transaction over record, statistics and outbox: all of it or nothing.",
        "issue 2.2",
        (
            "writing/test_remember.py::test_a_batch_is_written_whole_or_not_at_all",
            "writing/test_remember.py::test_a_bad_draft_is_refused_by_field",
            "store/test_database.py::test_a_block_that_raises_leaves_nothing_behind",
            "store/test_database.py::test_a_full_disk_is_store_unavailable_and_nothing_is_half_written",
            "store/test_outbox.py",
        ),
    ),
    Requirement(
        "acknowledged-is-kept",
        "No acknowledged write is lost or doubled, whenever the process is killed.",
        "design 5, 9",
        (
            "benchmarks/test_crash.py",
            "upkeep/test_recovery.py",
            "store/test_database.py::test_sqlite_promises_durability_and_erasure",
            "index/test_qdrant_edge.py::test_every_acknowledged_write_survives_a_kill",
            "cli/test_transfer.py::test_an_import_that_was_killed_goes_on_and_stores_nothing_twice",
            "case:B5-11",
        ),
    ),
    Requirement(
        "idempotency",
        "The same idempotency key gives the first answer again; with another content it is a conflict.",
        "design 5; xmemo 2.4",
        (
            "writing/test_remember.py::test_the_same_idempotency_key_gives_the_first_answer_and_writes_nothing",
            "writing/test_remember.py::test_parallel_writes_with_one_key_leave_one_record",
            "writing/test_remember.py::test_a_key_survives_a_restart",
            "writing/test_remember.py::test_a_batch_that_comes_twice_with_its_key_is_written_once",
            "writing/test_remember.py::test_a_key_that_comes_back_with_other_content_is_a_conflict",
            "store/test_idempotency.py",
            "store/test_concurrency.py::test_one_idempotency_key_used_by_many_at_once_runs_once",
            "case:B5-05",
        ),
    ),
    Requirement(
        "dedupe",
        "On request a text that is already there, in the same space and place, is not stored again.",
        "design 5",
        (
            "writing/test_remember.py::test_dedupe_leaves_an_equal_text_at_the_same_place_alone",
            "writing/test_remember.py::test_without_dedupe_equal_texts_are_two_records",
            "writing/test_remember.py::test_dedupe_sees_earlier_drafts_of_the_same_batch",
            *("case:B3-30", "case:B5-04"),
        ),
    ),
    Requirement(
        "versions",
        "A semantic key is one concept with versions; every change keeps the former state.",
        "design 5",
        (
            "writing/test_remember.py::test_a_semantic_key_makes_versions_of_one_record",
            "writing/test_changes.py::test_an_update_of_a_stale_version_is_a_conflict",
            "store/test_memories.py::test_replacing_keeps_the_former_state_as_a_version",
            "store/test_concurrency.py::test_one_concept_written_by_many_at_once_stays_one_record",
            "cli/test_writing.py::test_a_key_makes_the_second_text_the_next_version",
        ),
    ),
    Requirement(
        "forget",
        "After a soft, hard or redacting forget no surface returns the text, not one call later.",
        "design 5",
        (
            "writing/test_changes.py::test_a_softly_forgotten_record_is_gone_from_every_read_and_can_be_restored",
            "writing/test_changes.py::test_a_hard_delete_leaves_nothing_to_restore",
            "writing/test_changes.py::test_a_redacted_record_keeps_its_place_and_loses_every_former_text",
            "store/test_memories.py::test_redaction_leaves_the_former_text_nowhere",
            "writing/test_forgetting.py",
            "store/test_memories.py::test_forgotten_text_is_overwritten_in_the_sqlite_file",
            "cli/test_writing.py::test_a_forgotten_memory_is_gone_from_every_command_until_it_is_restored",
            *("case:B5-01", "case:B5-02", "case:B5-12"),
        ),
    ),
    Requirement(
        "restore",
        "What was forgotten softly comes back under its id.",
        "issue 2.8",
        (
            "writing/test_changes.py::test_a_softly_forgotten_record_is_gone_from_every_read_and_can_be_restored",
            "store/test_access.py::test_a_deleted_record_is_held_for_restore_and_an_expired_one_is_gone",
        ),
    ),
    Requirement(
        "working-state",
        "Working state is one versioned slot for each key, bucket and scope, with a time to live; it can come first.",
        "issue 2.8",
        (
            "writing/test_working_state.py",
            "retrieval/test_search.py::test_strict_shows_working_state_only_if_it_is_about_the_question",
            "cli/test_writing.py::test_working_state_is_written_shown_and_replaced",
        ),
    ),
    Requirement(
        "truth-store",
        "SQLite and PostgreSQL hold the same truth: exact times, paths, keys, statistics and orders.",
        "issue 2.2",
        (
            "store/test_memories.py",
            "store/test_namesakes.py",
            "store/test_columns.py",
            "store/test_filters.py",
            "store/test_access.py",
        ),
    ),
    Requirement(
        "migrations",
        "A store is brought up to date on start, once, or left untouched if it is too new.",
        "issue 2.2",
        ("store/test_migrations.py", "store/test_database.py::test_opening_an_up_to_date_store_is_quick"),
    ),
    Requirement(
        "ids",
        "Record ids are UUIDs of version 7 that ascend; what is no UUID is refused as such.",
        "design 3",
        ("store/test_ids.py", "writing/test_remember.py::test_an_id_that_is_no_uuid_is_refused"),
    ),
    Requirement(
        "concurrent-use",
        "Many threads read and write at once without a lock error.",
        "issue 2.2",
        (
            "store/test_concurrency.py",
            "store/test_turnstile.py",
            "index/test_upkeep.py::test_many_threads_may_use_one_index",
        ),
    ),
)
