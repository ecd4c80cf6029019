"""Promises about sources, conversations and the Crosmos-compatible surface."""

from __future__ import annotations

from tests.promises.requirement import Requirement

INGEST = (
    Requirement(
        "crosmos-published-client",
        "The published client of the Crosmos contract works unmodified and strict; old clients' requests are accepted.",
        "issue 5; crosmos 3-9",
        ("crosmos/test_published_client.py", "crosmos/test_wire.py", "crosmos/test_schema.py"),
    ),
    Requirement(
        "crosmos-isolation",
        "Spaces, sources, jobs, memories and entities of another tenant are like missing ones.",
        "issue 5; crosmos 3.1",
        (
            "crosmos/test_wire.py::test_another_tenants_things_are_like_missing_ones",
            "crosmos/test_wire.py::test_a_key_of_one_space_does_what_it_is_for_and_no_more",
            "crosmos/test_field_cases.py",
        ),
    ),
    Requirement(
        "ingest-without-a-model",
        "Texts and conversations become memories by stated rules; a language model is optional and only adds.",
        "issue 5.2",
        (
            "ingest/test_conversations.py",
            "ingest/test_documents.py",
            "ingest/test_mentions.py",
            "ingest/test_nature.py",
            "ingest/test_worker.py::test_an_extractor_adds_its_facts_beside_the_rules",
        ),
    ),
    Requirement(
        "ingest-survives-a-crash",
        "A job that was cut off is finished at the next start: nothing is lost or doubled, progress only grows.",
        "issue 5.2",
        (
            "ingest/test_worker.py::test_a_process_that_is_killed_in_a_job_loses_and_doubles_nothing",
            "ingest/test_worker.py::test_an_outage_puts_the_job_back_and_it_is_done_later",
            "store/test_ingest_tables.py",
        ),
    ),
    Requirement(
        "ingest-once",
        "A source or session that is sent again brings only what is new.",
        "crosmos 3.3, 4.5",
        (
            "crosmos/test_wire.py::test_a_source_that_is_sent_again_at_once_is_the_same_source",
            "crosmos/test_wire.py::test_a_session_that_is_sent_again_brings_only_what_is_new",
        ),
    ),
    Requirement(
        "deleted-sources-are-gone",
        "Deleting a source or a space leaves nothing of it, in truth and index, even in the middle of its job.",
        "issue 5.4",
        (
            "ingest/test_worker.py::test_a_source_that_is_deleted_in_mid_job_leaves_nothing",
            "ingest/test_worker.py::test_a_space_that_is_deleted_in_mid_job_leaves_nothing",
            "crosmos/test_wire.py::test_a_deleted_space_leaves_no_source_job_or_entity",
            "crosmos/test_published_client.py::test_deleting_a_source_deletes_its_memories_everywhere",
        ),
    ),
)
