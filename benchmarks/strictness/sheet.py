"""Tables of figures as Markdown, and the places in a document that hold them.

A document marks a place with a line `<!-- strictness:NAME -->` and ends it with
`<!-- /strictness:NAME -->`. What stands between is written by the benchmark, so that no figure is
copied by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | int | float | None
"""A text, a count, a share or a measure (three decimals), or nothing to show."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table. The first column is text, the others are figures; `name` is its place in the document."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def markdown(self) -> str:
        """The table, without a line break at the end."""
        lines = [list(self.columns), ["---", *["---:"] * (len(self.columns) - 1)]]
        lines += [[_show(cell) for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def written(document: str, sheets: Iterable[Sheet]) -> str:
    """The document with every table in its place. Raises `ValueError` if a table has none, or two."""
    for sheet in sheets:
        start, end = f"<!-- strictness:{sheet.name} -->", f"<!-- /strictness:{sheet.name} -->"
        if document.count(start) != 1 or document.count(end) != 1 or document.index(end) < document.index(start):
            raise ValueError(f"the document needs one {start} and after it one {end}")
        before, rest = document.split(start)
        _, after = rest.split(end)
        document = f"{before}{start}\n{sheet.markdown()}\n{end}{after}"
    return document


def _show(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
