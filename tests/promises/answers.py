"""Promises about answers: strict, forgiving, explained, packed."""

from __future__ import annotations

from tests.promises.requirement import Requirement

NO_MATCH = (
    Requirement(
        "no-match",
        "Strict search returns what it can vouch for, or an explicit no-match; never the nearest row instead.",
        "design 1, 9",
        (
            "retrieval/test_search.py::test_a_query_about_something_else_is_a_no_match_without_the_rejected_text",
            "cli/test_asking.py::test_search_says_no_match_with_exit_code_1",
            *("case:B1-01", "case:B1-02", "case:B1-05", "case:B4-04"),
        ),
    ),
    Requirement(
        "no-match-reason",
        "A no-match says why: empty space, filtered out, below the threshold, or an identifier that nothing holds.",
        "design 3",
        (
            "retrieval/test_search.py::test_an_empty_space_says_so",
            "retrieval/test_search.py::test_filters_that_leave_nothing_say_so",
            "retrieval/test_search.py::test_an_identifier_that_no_record_has_is_named",
            "cli/test_cards.py::test_every_no_match_says_so_with_its_reason_and_a_next_step",
            *("case:B1-04", "case:B3-15"),
        ),
    ),
    Requirement(
        "no-match-hides-text",
        "A no-match never shows the rejected text unless an explanation is asked for.",
        "design 3",
        (
            "retrieval/test_search.py::test_a_query_about_something_else_is_a_no_match_without_the_rejected_text",
            "cli/test_asking.py::test_without_explain_no_rejected_text_is_shown",
        ),
    ),
    Requirement(
        "outage-is-an-error",
        "An outage is never reported as nothing found.",
        "design 3, 9",
        (
            "retrieval/test_search.py::test_a_down_index_is_an_outage_and_never_a_no_match",
            "retrieval/test_search.py::test_a_down_embedder_degrades_recall_and_is_named",
            "index/test_qdrant_server.py::test_a_server_that_is_not_there_is_unavailable_and_not_empty",
            "index/test_qdrant_server.py::test_a_collection_that_vanished_is_unavailable_and_not_empty",
            "index/test_upkeep.py::test_a_closed_index_says_so",
            "store/test_database.py::test_a_refused_connection_is_store_unavailable",
            "case:B1-22",
        ),
    ),
    Requirement(
        "identifier-veto",
        "An identifier in the query that a record lacks vetoes it in strict mode; digits are not approximated.",
        "design 4.6",
        (
            "text/test_analysis.py::test_a_near_miss_is_another_identifier",
            "retrieval/test_policy.py",
            "retrieval/test_calibration.py::test_a_record_without_the_identifier_keeps_a_small_share_of_its_confidence",
            *("case:B1-07", "case:B1-08", "case:B1-09", "case:B1-10", "case:B1-11", "case:B1-15", "case:B4-08"),
        ),
    ),
    Requirement(
        "identifier-hit",
        "A query that is an identifier is answered by the record that holds it, however low its cosine.",
        "design 4.1",
        (
            "text/test_analysis.py::test_an_exact_name_is_an_identifier",
            "text/test_analysis.py::test_everyday_compounds_and_numbers_are_no_identifiers",
            "retrieval/test_search.py::test_an_id_or_a_semantic_key_finds_its_record_first",
            *("case:B1-06", "case:B1-15", "case:B4-07", "case:B4-09", "case:B4-12"),
        ),
    ),
    Requirement(
        "confidence",
        "Confidence means the same for every query: it depends on query, record and space, not on rank or limit.",
        "design 1.4",
        (
            "retrieval/test_search.py::test_confidence_does_not_depend_on_the_limit",
            "retrieval/test_search.py::test_explain_names_every_pooled_record_and_changes_no_result",
            "retrieval/test_calibration.py",
            *("case:B1-03", "case:B1-16", "case:B1-17", "case:B1-18", "case:B1-21"),
        ),
    ),
    Requirement(
        "own-calibration",
        "A user's own labels fit confidences and thresholds to the user's data; a worse fit is not kept unasked.",
        "issue 6.4",
        (
            "retrieval/test_own_calibration.py",
            "retrieval/test_blend.py",
            "retrieval/test_measures.py",
            "cli/test_calibrate.py",
            "host/test_host.py::test_a_calibration_through_the_socket_is_in_use_at_once",
        ),
    ),
    Requirement(
        "pair-scorer",
        "A cross-encoder of the user's choice reorders, and counts in a confidence only that was fitted with it.",
        "issue 6.3",
        ("retrieval/test_pairs.py", "retrieval/test_fastembed_pairs.py"),
    ),
    Requirement(
        "threshold",
        "A caller can replace the strict threshold by a confidence of its own; a higher one only takes away.",
        "issue 2.6",
        (
            "retrieval/test_search.py::test_min_confidence_replaces_the_threshold",
            "cli/test_asking.py::test_a_minimal_confidence_replaces_the_threshold",
            "case:B1-19",
        ),
    ),
    Requirement(
        "forgiving",
        "Recall gives its best effort up to the limit and labels every hit with how sure the engine is.",
        "design 4.6",
        (
            "retrieval/test_search.py::test_forgiving_always_answers_and_labels_what_is_weak",
            "cli/test_cards.py::test_weak_hits_of_a_recall_are_called_weak",
            *("case:B1-05", "case:B1-18", "case:B1-24"),
        ),
    ),
    Requirement(
        "plain-answers",
        "What is stored is found in other word forms, negated, among thousands of rows that share its common words.",
        "issue 2.6",
        (
            "retrieval/test_evidence.py",
            "retrieval/test_frames.py",
            *("case:B1-14", "case:B1-20", "case:B1-23", "case:B1-33", "case:B4-16", "case:B4-18"),
        ),
    ),
    Requirement(
        "languages",
        "Questions in other languages are found and refused by their words, with the English embedder too.",
        "issue 6.6",
        ("retrieval/test_languages.py", "text/test_analysis.py::test_endings_of_other_scripts_meet"),
    ),
    Requirement(
        "explain",
        "An explanation names every record that was considered, its verdict and the reasons, and changes no result.",
        "design 4.7",
        (
            "retrieval/test_wording.py",
            "retrieval/test_search.py::test_explain_names_every_pooled_record_and_changes_no_result",
            "cli/test_asking.py::test_explain_shows_rejected_records_too",
            "cli/test_cards.py::test_a_trace_shows_every_record_that_was_considered_with_its_reasons",
        ),
    ),
    Requirement(
        "fusion",
        "Legs are fused by scores into one pool in which a record of either leg has its place.",
        "design 4.3",
        ("retrieval/test_fusion.py",),
    ),
)


BUDGET = (
    Requirement(
        "budget",
        "A context pack never exceeds its budget, counted on the whole rendered text by the tokenizer that it names.",
        "issue 2.7",
        (
            "cli/test_asking.py::test_context_prints_a_pack_within_its_budget",
            "embedding/test_wordpiece.py",
            "retrieval/test_packing.py",
            *("case:B7-01", "case:B7-02", "case:B7-04", "case:B7-06"),
        ),
    ),
    Requirement(
        "packing",
        "Packing skips what does not fit and goes on, cuts only if nothing fits, keeps the order, says what is out.",
        "issue 2.7",
        (
            "cli/test_asking.py::test_context_without_room_is_no_match_and_says_what_was_left_out",
            *("case:B7-01", "case:B7-03", "case:B7-07"),
        ),
    ),
    Requirement("near-duplicates", "Copies of one text take one place in a pack.", "issue 2.7", ("case:B7-05",)),
)
