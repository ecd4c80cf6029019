"""Term statistics of a space: in how many records each term occurs, how many records, how long.

They are counted up and down with every write, in its transaction, so that a query's IDF needs one
keyed look-up per term and never sees another space. Rows are written in the order of their keys:
two transactions that touch the same terms then wait for each other instead of deadlocking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, delete, select, update

from engine.store.columns import KeyText, digest
from engine.store.database import hold_space
from engine.store.schema import space_terms, space_totals
from engine.store.upsert import insert_into

RecordCounts: TypeAlias = tuple[Mapping[str, int], int]
"""A record's term frequencies and its length in terms."""

_CHUNK = 500
_TERM_LIMIT_BYTES = 512
"""Longer terms are stored by digest: an index entry has a size limit on PostgreSQL."""

# Built once: every search runs these, and building a statement takes longer than running it.
_SPACE = bindparam("space", type_=KeyText)
_FREQUENCIES = select(space_terms.c.term, space_terms.c.document_frequency).where(
    space_terms.c.space_id == _SPACE, space_terms.c.term.in_(bindparam("keys", type_=KeyText, expanding=True))
)
_TOTALS = select(space_totals.c.records, space_totals.c.length).where(space_totals.c.space_id == _SPACE)


@dataclass(frozen=True, slots=True)
class SpaceTotals:
    """Number of records counted and the sum of their lengths in terms."""

    records: int
    length: int


def add(connection: Connection, space_id: str, counts_by_record: Iterable[RecordCounts]) -> None:
    """Count records in."""
    hold_space(connection, space_id)
    frequencies, records, length = _aggregate(counts_by_record)
    if frequencies:
        upsert = insert_into(connection, space_terms)
        total = space_terms.c.document_frequency + upsert.excluded.document_frequency
        connection.execute(
            upsert.on_conflict_do_update(index_elements=["space_id", "term"], set_={"document_frequency": total}),
            [
                {"space_id": space_id, "term": term, "document_frequency": frequency}
                for term, frequency in sorted(frequencies.items())
            ],
        )
    _shift_totals(connection, space_id, records, length)


def remove(connection: Connection, space_id: str, counts_by_record: Iterable[RecordCounts]) -> None:
    """Count records out that were counted in before with the same counts."""
    hold_space(connection, space_id)
    frequencies, records, length = _aggregate(counts_by_record)
    if frequencies:
        here = (space_terms.c.space_id == space_id) & (space_terms.c.term == bindparam("of_term"))
        rows = [{"of_term": term, "less": frequency} for term, frequency in sorted(frequencies.items())]
        reduced = space_terms.c.document_frequency - bindparam("less")
        connection.execute(update(space_terms).where(here).values(document_frequency=reduced), rows)
        gone = delete(space_terms).where(here, space_terms.c.document_frequency <= 0)
        connection.execute(gone, [{"of_term": row["of_term"]} for row in rows])
    _shift_totals(connection, space_id, -records, -length)


def clear(connection: Connection, space_id: str) -> None:
    """Forget all counts of a space, before they are counted again."""
    hold_space(connection, space_id)
    connection.execute(delete(space_terms).where(space_terms.c.space_id == space_id))
    connection.execute(delete(space_totals).where(space_totals.c.space_id == space_id))


def document_frequencies(connection: Connection, space_id: str, terms: Collection[str]) -> dict[str, int]:
    """In how many records each of the terms occurs; terms that occur in none are left out."""
    by_key = {_key(term): term for term in terms}
    keys = list(by_key)
    found: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        rows = connection.execute(_FREQUENCIES, {"space": space_id, "keys": keys[start : start + _CHUNK]})
        found.update((by_key[row.term], row.document_frequency) for row in rows)
    return found


def totals(connection: Connection, space_id: str) -> SpaceTotals:
    """Totals of a space; zeros for one without records."""
    row = connection.execute(_TOTALS, {"space": space_id}).one_or_none()
    return SpaceTotals(row.records, row.length) if row else SpaceTotals(0, 0)


def _aggregate(counts_by_record: Iterable[RecordCounts]) -> tuple[Counter[str], int, int]:
    frequencies: Counter[str] = Counter()
    records = total_length = 0
    for counts, length in counts_by_record:
        frequencies.update(_key(term) for term in counts)
        records += 1
        total_length += length
    return frequencies, records, total_length


def _shift_totals(connection: Connection, space_id: str, records: int, length: int) -> None:
    if not records:
        return
    upsert = insert_into(connection, space_totals)
    shifted = {
        "records": space_totals.c.records + upsert.excluded.records,
        "length": space_totals.c.length + upsert.excluded.length,
    }
    connection.execute(
        upsert.on_conflict_do_update(index_elements=["space_id"], set_=shifted),
        {"space_id": space_id, "records": records, "length": length},
    )


def _key(term: str) -> str:
    return term if len(term.encode("utf-8")) <= _TERM_LIMIT_BYTES else f"digest:{digest(term)}"
