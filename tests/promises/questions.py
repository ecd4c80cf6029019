"""Promises about questions: filters, refusals, and how text is read."""

from __future__ import annotations

from tests.promises.requirement import Requirement

FILTERS = (
    Requirement(
        "filter-first",
        "Every filter restricts the candidates inside every leg, before the top k.",
        "design 1.3",
        (
            "retrieval/test_search.py::test_filters_apply_before_the_limit",
            "index/test_filters.py",
            "store/test_filters.py::test_an_exact_condition_matches_its_value_and_nothing_like_it",
            *("case:B3-09", "case:B3-10", "case:B5-07"),
        ),
    ),
    Requirement(
        "ilike",
        "`path_filter` and `memory_type` are ILIKE patterns under NFC and case folding, equal in SQL and the index.",
        "design 4; xmemo 5",
        (
            "text/test_patterns.py",
            "store/test_filters.py::test_sql_and_pattern_agree_on_every_path",
            "store/test_filters.py::test_a_path_filter_means_in_sql_what_it_means_in_the_pattern",
            "store/test_filters.py::test_a_memory_type_is_a_pattern_over_the_whole_value",
            *("case:B3-01", "case:B3-02", "case:B3-03", "case:B3-04", "case:B3-05", "case:B3-06", "case:B3-07"),
            *("case:B3-08", "case:B3-12"),
        ),
    ),
    Requirement(
        "filter-or-refuse",
        "A filter that cannot be applied, an unknown argument or an unknown type is refused by name, never dropped.",
        "design 9",
        (
            "retrieval/test_search.py::test_a_pattern_that_does_not_parse_is_refused",
            "store/test_filters.py::test_an_unknown_memory_type_is_refused_by_name",
            "store/test_filters.py::test_a_window_that_cannot_hold_anything_is_refused",
            "api/test_rest_core.py::test_a_filter_in_the_wrong_place_is_refused_rather_than_dropped",
            *("case:B3-11", "case:B3-13", "case:B3-14", "case:B3-16"),
        ),
    ),
    Requirement(
        "bad-query",
        "A blank query, a limit outside 1..100 and text that is no valid Unicode are refused, with the field named.",
        "issue 2.6",
        (
            "retrieval/test_search.py::test_a_bad_query_is_refused_by_field",
            "cli/test_asking.py::test_a_question_that_cannot_be_served_is_refused_with_a_sentence",
            *("case:B4-10", "case:B4-11", "case:B4-14", "case:B4-15", "case:B4-20"),
        ),
    ),
    Requirement(
        "list-all",
        "The query `*` lists under the filters instead of searching.",
        "design 4",
        (
            "retrieval/test_search.py::test_a_star_lists_the_newest_first_under_the_filters",
            "cli/test_asking.py::test_a_star_lists_under_the_filters",
        ),
    ),
    Requirement(
        "time-window",
        "A time window is half-open and asks the chosen time of a record, to the microsecond.",
        "design 3",
        (
            "retrieval/test_search.py::test_a_time_window_is_half_open_and_orders_by_its_axis",
            "store/test_filters.py::test_a_window_holds_its_start_and_not_its_end",
            "store/test_columns.py::test_stored_times_compare_like_the_times",
            "cli/test_asking.py::test_a_time_filter_narrows",
            "api/test_rest_core.py::test_a_window_holds_its_start_and_not_its_end",
        ),
    ),
    Requirement(
        "expiry",
        "An expired record disappears from every read at the second it expires.",
        "design 5",
        (
            "writing/test_remember.py::test_a_record_is_gone_at_the_second_it_expires",
            "index/test_filters.py::test_a_record_is_gone_in_the_very_microsecond_in_which_it_expires",
            "store/test_filters.py::test_deleted_and_expired_records_never_come_out_whatever_is_asked",
            "upkeep/test_expiry.py",
            *("case:B5-06", "case:B5-07"),
        ),
    ),
)


TEXT = (
    Requirement(
        "one-form",
        "Text is compared in one form: NFC, case folded, without invisible characters; stored as it came.",
        "design 4.1",
        ("text/test_folding.py", "case:B4-15", "case:B4-17"),
    ),
    Requirement(
        "terms",
        "Words in all their forms, whole identifiers and their parts, and bigrams of unspaced scripts are evidence.",
        "issue 2.4",
        (
            "text/test_analysis.py",
            *("case:B4-01", "case:B4-02", "case:B4-03", "case:B4-05", "case:B4-06"),
        ),
    ),
    Requirement(
        "own-statistics",
        "Term weights are those of the space itself: no other space, tenant or deleted record changes a score.",
        "design 4.2",
        (
            "store/test_terms.py",
            "text/test_sparse.py",
            "writing/test_changes.py::test_statistics_follow_forget_and_restore",
            *("case:B3-20", "case:B3-21", "case:B3-31"),
        ),
    ),
    Requirement(
        "long-content",
        "Content up to 512 KiB is indexed in overlapping passages that cover all of it; more is refused.",
        "issue 2.4",
        (
            "text/test_passages.py",
            "writing/test_remember.py::test_content_up_to_512_kib_is_stored_and_more_is_refused",
            "index/test_searching.py::test_a_record_scores_as_its_best_passage_and_tells_where_that_lies",
        ),
    ),
    Requirement(
        "long-query",
        "A query longer than the model reads is asked in windows and says so; nothing is cut silently.",
        "design 4.1",
        (
            "retrieval/test_search.py::test_a_query_longer_than_the_model_reads_is_asked_in_windows_and_says_so",
            "text/test_passages.py::test_windows_do_not_overlap",
            *("case:B4-13", "case:B4-18"),
        ),
    ),
)
