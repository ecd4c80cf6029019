"""Invented facts about services, with questions that one of them answers and some that none does.

Facts are pairs of a service and an attribute. Half of all pairs are stored; a question about a pair
of the other half uses only words that occur in the store, and no row answers it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

SERVICES = (
    *("Marlin", "Tundra", "Cobalt", "Juniper", "Saffron", "Pelican", "Quartz", "Willow", "Ember", "Harbor"),
    *("Lantern", "Meadow", "Nimbus", "Orchid", "Puffin", "Raven", "Sequoia", "Thistle", "Umber", "Velvet"),
    *("Walnut", "Yarrow", "Zephyr", "Basil", "Cedar", "Dahlia", "Falcon", "Ginger", "Heron", "Indigo"),
    *("Jasmine", "Krill", "Lupin", "Mango", "Nectar", "Otter", "Pepper", "Quill", "Rowan", "Sable"),
)
ATTRIBUTES: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("{s} is owned by the {v} squad.", "Which squad owns {s}?", ("payments", "search", "identity", "growth")),
    ("{s} keeps its logs for {v} days.", "How long does {s} keep logs?", ("14", "30", "45", "90")),
    ("{s} is deployed every {v}.", "On which weekday is {s} deployed?", ("Monday", "Tuesday", "Thursday")),
    ("The database behind {s} is {v}.", "What database does {s} use?", ("Postgres", "MariaDB", "Cassandra")),
    ("{s} is written in {v}.", "Which language is {s} written in?", ("Go", "Kotlin", "Rust", "Elixir")),
    ("Alerts of {s} page the {v} rota.", "Which rota do alerts of {s} page?", ("night", "weekend", "platform")),
    ("The memory limit of {s} is {v} gigabytes.", "What is the memory limit of {s}?", ("2", "4", "8", "16")),
    ("{s} runs in the {v} region.", "In which region does {s} run?", ("Dublin", "Oregon", "Mumbai", "Frankfurt")),
    ("The last security review of {s} was in {v}.", "When was {s} last reviewed for security?", ("March", "June")),
    ("{s} authenticates callers with {v}.", "How does {s} authenticate callers?", ("mutual TLS", "signed cookies")),
    ("Backups of {s} are restored on a trial basis by {v}.", "Who restores backups of {s}?", ("Anouk", "Tomasz")),
    ("{s} answers {v} requests a second at peak.", "How many requests does {s} answer at peak?", ("300", "1200")),
    ("The dashboard of {s} is called {v}.", "What is the dashboard of {s} called?", ("Overview", "Pulse", "Radar")),
    ("{s} caches responses for {v} seconds.", "For how long does {s} cache responses?", ("20", "60", "300")),
    ("{s} will be retired in {v}.", "When will {s} be retired?", ("autumn", "spring", "winter")),
    ("The runbook of {s} was written by {v}.", "Who wrote the runbook of {s}?", ("Ines", "Malik", "Yuki")),
    ("{s} reads its secrets from {v}.", "Where does {s} read its secrets from?", ("the vault", "sealed files")),
    ("{s} publishes events to the {v} topic.", "To which topic does {s} publish events?", ("orders", "ledger")),
    ("Schema changes of {s} need approval from {v}.", "Who approves schema changes of {s}?", ("Petra", "Oskar")),
    ("{s} limits uploads to {v} megabytes.", "What upload size does {s} allow?", ("10", "25", "100")),
    ("Invoices for {s} go to cost centre {v}.", "Which cost centre pays for {s}?", ("4100", "4200", "4300")),
    ("{s} retries failed calls {v} times.", "How often does {s} retry failed calls?", ("3", "5", "7")),
    ("The staging copy of {s} is wiped every {v}.", "When is staging of {s} wiped?", ("Sunday", "Friday")),
    ("{s} was named by {v}.", "Who came up with the name {s}?", ("Lotte", "Rahul", "Sofia")),
    ("Load tests of {s} start at {v}.", "At what hour do load tests of {s} start?", ("noon", "midnight", "dawn")),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Statements to store, and questions. `answered[i]` is a question and the number of its statement."""

    statements: tuple[str, ...]
    answered: tuple[tuple[str, int], ...]
    unanswered: tuple[str, ...]


def facts(statements: int, questions: int, seed: int) -> Facts:
    """`statements` distinct facts and `questions` questions of either kind; at most half of all pairs are stored."""
    chance = random.Random(seed)
    pairs = [(service, attribute) for service in SERVICES for attribute in range(len(ATTRIBUTES))]
    chance.shuffle(pairs)
    stored, absent = pairs[:statements], pairs[len(pairs) // 2 :]
    known = {attribute for _, attribute in stored}, {service for service, _ in stored}
    askable = [(service, attribute) for service, attribute in absent if attribute in known[0] and service in known[1]]
    return Facts(
        statements=tuple(_statement(service, attribute, chance) for service, attribute in stored),
        answered=tuple((_question(*stored[number]), number) for number in range(questions)),
        unanswered=tuple(_question(*pair) for pair in askable[:questions]),
    )


def _statement(service: str, attribute: int, chance: random.Random) -> str:
    template, _, values = ATTRIBUTES[attribute]
    return template.format(s=service, v=chance.choice(values))


def _question(service: str, attribute: int) -> str:
    return ATTRIBUTES[attribute][1].format(s=service)
