"""Which pair scorer the settings name, if any."""

from __future__ import annotations

from engine.errors import SetupError
from engine.retrieval.pairs.protocol import PairScorer
from engine.settings import Settings


def create(settings: Settings) -> PairScorer | None:
    """The scorer of `settings.pair_scorer`: unset, or `fastembed:<model>`.

    Raises `SetupError` when the setting names no such thing, or when what it needs is missing.
    """
    if settings.pair_scorer is None:
        return None
    kind, _, model = settings.pair_scorer.partition(":")
    if kind != "fastembed" or not model:
        raise SetupError(
            f"MEMVOUCH_PAIR_SCORER={settings.pair_scorer!r} is not known: use fastembed:<model>, or leave it unset."
        )
    from engine.retrieval.pairs.fastembed_scorer import FastEmbedPairScorer

    return FastEmbedPairScorer(model, threads=settings.threads)
