"""Promises about upkeep: truth and index equal, embedders not mixed, data in and out."""

from __future__ import annotations

from tests.promises.requirement import Requirement

CARE = (
    Requirement(
        "doctor",
        "Doctor compares truth and index, names what is missing or left over, and repairs it on request.",
        "issue 2.9",
        (
            "upkeep/test_doctor.py",
            "cli/test_care.py::test_doctor_finds_truth_and_index_equal",
            "cli/test_care.py::test_doctor_tells_a_lost_index_and_repairs_it",
        ),
    ),
    Requirement(
        "reindex",
        "The index can be built anew from the truth while reads and writes go on, and an interrupted run goes on.",
        "design 5",
        ("upkeep/test_reindex.py", "cli/test_care.py::test_reindex_builds_the_index_anew", "case:B5-09"),
    ),
    Requirement(
        "embedder-mismatch",
        "An index of another embedder or text analysis is not served; the error names the command that repairs it.",
        "design 5",
        (
            "upkeep/test_reindex.py::test_another_embedder_is_refused_with_the_command_that_helps",
            "store/test_index_state.py",
            "index/test_qdrant_edge.py::test_another_dimension_is_a_mismatch_and_harms_nothing",
            "index/test_qdrant_server.py::test_another_dimension_is_a_mismatch",
            "case:B5-10",
        ),
    ),
    Requirement(
        "one-process",
        "A second process on one folder is told what to do, and nothing is corrupted.",
        "issue 2",
        (
            "upkeep/test_folder.py",
            "index/test_qdrant_edge.py::test_a_second_process_is_told_that_the_folder_is_busy",
            "cli/test_care.py::test_a_folder_in_use_is_a_setup_error_that_says_what_to_do",
        ),
    ),
    Requirement(
        "one-host",
        "Any number of local clients share one folder through one host, which is started on demand and replaced.",
        "design 1.6",
        ("host/",),
    ),
    Requirement(
        "background",
        "The background work of an open engine never ends because one turn fails, and is finished on closing.",
        "design 5",
        ("upkeep/test_keeper.py",),
    ),
    Requirement(
        "import-accounts",
        "An import accounts for every line: stored, known, or left out with its number and the reason.",
        "issue 2.9",
        (
            "upkeep/portable/test_lines.py",
            "upkeep/portable/test_markdown.py",
            "cli/test_transfer.py::test_every_line_that_is_left_out_is_told_with_its_reason",
        ),
    ),
    Requirement(
        "import-resumes",
        "An import can be run again after any end: it stores nothing twice and brings back nothing forgotten.",
        "issue 2.9",
        ("cli/test_transfer.py",),
    ),
    Requirement(
        "export-round-trip",
        "An export carries every field and comes back whole in another folder.",
        "issue 2.9",
        (
            "upkeep/portable/test_export.py",
            "cli/test_transfer.py::test_an_export_comes_back_whole_in_another_folder",
        ),
    ),
)
