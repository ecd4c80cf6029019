"""Optional extraction: a language model's own statements of the facts in a source.

Off by default. What it returns is stored beside the memories that the rules make, never instead.
"""

from __future__ import annotations

import json
from typing import Protocol

import httpx

from engine.domain.source import Source
from engine.errors import SetupError, Unavailable
from engine.settings import Settings

TIMEOUT_SECONDS = 120.0
FACTS_LIMIT = 50
_TEXT_LIMIT_CHARACTERS = 24_000
_INSTRUCTION = (
    "List the lasting facts, preferences and events that the text states. Each is one sentence that can be "
    "understood alone: names instead of pronouns, absolute dates instead of relative ones. Add nothing that the "
    'text does not say. Answer with JSON only: {"facts": ["..."]}.'
)


class Extractor(Protocol):
    """Reads a source and says in sentences what it states."""

    def facts(self, source: Source) -> list[str]:
        """At most `FACTS_LIMIT` sentences. Raises `Unavailable`."""

    def close(self) -> None:
        """Let go of what it holds."""


def create(settings: Settings) -> ChatExtractor | None:
    """The extractor that the settings name; `None` by default."""
    if settings.extractor is None:
        return None
    if settings.extractor_url is None:
        raise SetupError("MEMVOUCH_EXTRACTOR needs MEMVOUCH_EXTRACTOR_URL, the base URL of a chat endpoint.")
    return ChatExtractor(settings.extractor_url, settings.extractor, settings.extractor_api_key)


class ChatExtractor:
    """An OpenAI-compatible chat endpoint as extractor; `base_url` ends before `/chat/completions`."""

    def __init__(self, base_url: str, model: str, api_key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(base_url=base_url.rstrip("/"), headers=headers, timeout=TIMEOUT_SECONDS)
        self._model = model

    def facts(self, source: Source) -> list[str]:
        when = f"Time of the text: {source.event_time.isoformat()}\n\n" if source.event_time else ""
        body = {
            "model": self._model,
            "temperature": 0,
            "response_format": {"type": "json_object"},
            "messages": [
                {"role": "system", "content": _INSTRUCTION},
                {"role": "user", "content": when + source.content[:_TEXT_LIMIT_CHARACTERS]},
            ],
        }
        try:
            answer = self._client.post("/chat/completions", json=body).raise_for_status().json()
            found = json.loads(answer["choices"][0]["message"]["content"])["facts"]
        except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
            raise Unavailable(f"the extractor gave no usable answer ({type(error).__name__})") from error
        return [fact.strip() for fact in found if isinstance(fact, str) and fact.strip()][:FACTS_LIMIT]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
