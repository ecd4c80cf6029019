"""Every error that Memvouch raises on purpose.

    MemvouchError
    ├── InvalidRequest            the caller sent something that cannot be served as sent
    │   ├── InvalidPattern        a path or type pattern that does not parse
    │   ├── InvalidIdentifier     an id that is not a UUID
    │   └── ContentTooLarge       more than the documented size
    ├── AccessError
    │   ├── Unauthenticated       no credential, or one that is unknown, revoked or expired
    │   └── Forbidden             a known caller without the scope or right
    ├── NotFound                  no such thing, or one that the caller may not know of
    ├── Conflict                  the state of the store forbids it (name taken, key reused, version moved)
    ├── Unavailable               a part that the request needs is down; trying again may help
    │   ├── StoreUnavailable
    │   ├── IndexUnavailable
    │   ├── EmbedderUnavailable
    │   └── PairScorerUnavailable
    └── SetupError                a person has to act; the message names the command
        ├── FolderBusy            another process has the data folder open
        ├── EmbedderMismatch      the index was built by another embedder or text analysis
        └── CorruptData           stored data fails its check

The surfaces map this tree once each: `api/errors.py` to HTTP, `mcp_profiles/render.py` to tool
errors, `cli/console.py` to exit codes.
"""

from __future__ import annotations


class MemvouchError(Exception):
    """Root of the tree. `str(error)` is one sentence for a person, without secrets."""


class InvalidRequest(MemvouchError):
    """The request cannot be served as sent; `field` names the argument at fault."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidPattern(InvalidRequest):
    """A path or type pattern that does not parse."""


class InvalidIdentifier(InvalidRequest):
    """A text that should be a UUID and is not."""


class ContentTooLarge(InvalidRequest):
    """Content above the size limit."""


class AccessError(MemvouchError):
    """The caller may not do this."""


class Unauthenticated(AccessError):
    """No credential, or one that is unknown, revoked or expired; `missing` tells the two apart."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


class Forbidden(AccessError):
    """A known caller without the needed scope or right."""


class NotFound(MemvouchError):
    """No such thing as far as the caller may know. A foreign id and a missing id read alike."""


class Conflict(MemvouchError):
    """The present state forbids it: a name is taken, an idempotency key was reused."""


class Unavailable(MemvouchError):
    """A part that the request needs is down."""

    def __init__(self, message: str, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StoreUnavailable(Unavailable):
    """The SQL store does not answer."""


class IndexUnavailable(Unavailable):
    """The vector index does not answer."""


class EmbedderUnavailable(Unavailable):
    """The embedder does not answer."""


class PairScorerUnavailable(Unavailable):
    """The pair scorer does not answer."""


class SetupError(MemvouchError):
    """A person has to act; the message says how."""


class FolderBusy(SetupError):
    """Another process has the data folder open."""


class EmbedderMismatch(SetupError):
    """The index was built by another embedder or text analysis."""


class CorruptData(SetupError):
    """Stored data fails its check."""
