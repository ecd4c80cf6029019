"""Settings, read from `MEMVOUCH_*` variables. Only composition roots may call `Settings()`."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_data_dir() -> Path:
    """The user's own data folder, by platform custom."""
    return user_data_path("memvouch")


class Settings(BaseSettings):
    """Everything that can be configured. `docs/settings.md` lists it; a test keeps the two equal."""

    model_config = SettingsConfigDict(env_prefix="MEMVOUCH_", extra="ignore", frozen=True)

    data_dir: Path = Field(
        default_factory=default_data_dir, description="Folder of the store, the index and the owner token."
    )
    database_url: str | None = Field(
        default=None, description="SQLAlchemy URL of the store; unset: SQLite in the data folder."
    )
    index_url: str = Field(
        default="edge:", description="`edge:` for embedded Qdrant Edge, `qdrant://host:6334` for a server."
    )
    index_api_key: str | None = Field(default=None, description="API key of the Qdrant server.", repr=False)
    index_collection: str = Field(default="memvouch", description="Collection name on a Qdrant server.")
    embedder: str = Field(
        default="bundled", description="`bundled`, `multilingual`, `fastembed:<model>` or `openai:<model>`."
    )
    embedder_url: str | None = Field(
        default=None, description="Base URL of an OpenAI-compatible `/v1/embeddings` endpoint."
    )
    embedder_api_key: str | None = Field(default=None, description="Key for that endpoint.", repr=False)
    extractor: str | None = Field(
        default=None, description="Model of a chat endpoint that adds facts to ingested sources; unset: rules only."
    )
    extractor_url: str | None = Field(default=None, description="Base URL of that OpenAI-compatible endpoint.")
    extractor_api_key: str | None = Field(default=None, description="Key for that endpoint.", repr=False)
    pair_scorer: str | None = Field(default=None, description="`fastembed:<cross-encoder>`; unset: none.")
    threads: int = Field(
        default=0, ge=0, description="Threads of the offline models and of a pair scorer; 0: one per core."
    )
    operating_point: str = Field(
        default="default", pattern="^(lenient|default|strict)$", description="Named strict threshold."
    )
    pool_size: int = Field(default=20, ge=5, le=200, description="Records that evidence looks at per space.")
    flush_seconds: float = Field(default=10.0, gt=0, description="How often the index is flushed in the background.")

    @property
    def store_url(self) -> str:
        """Where the store is: `database_url`, or the SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir / 'memvouch.db'}"
