"""The rules for the nature of a statement, measured on sentences that a person labelled."""

from __future__ import annotations

import pytest

from engine.domain.source import Nature
from engine.writing.ingest.nature import nature_of

LABELLED = {
    Nature.VIEWPOINT: """
        I love hiking in the rain.
        She prefers tea over coffee.
        My favourite editor is Vim.
        We think the new design is too complicated.
        I can't stand loud restaurants.
        He doesn't like meetings before ten.
        In my opinion the second draft reads better.
        The user wants answers in French.
        I really enjoyed the concert last night.
        Mara believes that tests should come first.
        The food there was delicious.
        That film is so boring.
        They hope to move closer to the sea.
        I feel that remote work suits me.
        I'm a big fan of old trains.
        Her opinion is that the price is fair.
    """,
    Nature.EPISODE: """
        We moved to Lisbon in March.
        Yesterday the build broke twice.
        I bought a bike last week.
        The team shipped version 2.1 on Friday.
        He graduated in 2019.
        The meeting is next Tuesday.
        Oscar called me this morning.
        They adopted a cat two years ago.
        The database crashed during the migration.
        She visited her parents on 4 July.
        Our offsite takes place on 2026-05-03.
        I started a pottery class.
        The invoice was sent on 12 June.
        We met at the conference in Oslo.
        A storm took the roof of the barn.
        The contract was signed by both sides.
    """,
    Nature.SEMANTIC: """
        The billing service runs on port 8443.
        Mara owns payroll.
        The office is on the third floor.
        Her sister is a nurse.
        Deploys need two approvals.
        The API key expires after thirty days.
        Our main database is PostgreSQL.
        Tom has three cats.
        The warehouse closes at six.
        Python is a programming language.
        The wifi password is on the fridge.
        Logs are kept for ninety days.
        Anna's phone number ends in 44.
        The car needs diesel.
        The repository lives under tools/memory.
        His birthday cake must be free of nuts.
    """,
}
SENTENCES = [(nature, line.strip()) for nature, text in LABELLED.items() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("nature", list(Nature))
def test_of_what_is_given_a_nature_nine_in_ten_have_it(nature: Nature) -> None:
    given = [(label, text) for label, text in SENTENCES if nature_of(text) is nature]
    right = [text for label, text in given if label is nature]
    assert len(right) / len(given) >= 0.9, [text for label, text in given if label is not nature]


@pytest.mark.parametrize("nature", list(Nature))
def test_of_each_nature_four_in_five_are_recognised(nature: Nature) -> None:
    of_it = [text for label, text in SENTENCES if label is nature]
    missed = [text for text in of_it if nature_of(text) is not nature]
    assert len(missed) / len(of_it) <= 0.2, missed
