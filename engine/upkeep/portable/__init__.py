"""Portable files: what Memvouch reads when it imports and writes when it exports.

Reading is a stream of `Draft | Skipped` items, one for each thing that the source holds, so that a
caller can account for every line: what became a memory, what did not, and why. No parser here
touches the store, the clock or the terminal; `cli/import_run.py` turns drafts into writes.

    drafts.py         the items, the defaults of one import, fingerprints
    fields.py         loose JSON values to typed fields
    lines.py          JSON Lines, one decoded object at a time
    records.py        an object that is a memory
    turns.py          an object that is one turn of a conversation
    markdown.py       a file or folder of Markdown, one memory for each section
    export.py         a memory as one line that `records.py` reads back
"""

from engine.upkeep.portable.drafts import Draft, ImportDefaults, Item, Skipped, SkipReason
from engine.upkeep.portable.export import export_line, export_record
from engine.upkeep.portable.lines import LineForm, read_lines
from engine.upkeep.portable.markdown import MarkdownFiles, markdown_files, read_markdown

__all__ = [
    "Draft",
    "ImportDefaults",
    "Item",
    "LineForm",
    "MarkdownFiles",
    "SkipReason",
    "Skipped",
    "export_line",
    "export_record",
    "markdown_files",
    "read_lines",
    "read_markdown",
]
