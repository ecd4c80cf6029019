"""What the notes of the cases need: a shared engine, folders of their own, and a place to register.

Some notes ask for more than the fields of a case can say. `beyond` registers a check that runs
after the case has been played; `procedure` registers what to do for a case that has only a note.
Both are named by the id of the case in the file of the project; a case of another file without
such an entry is played by its fields alone, or skipped if it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.engine import Engine
from engine.settings import Settings
from tests.field_cases.cases import Case
from tests.field_cases.engine_surface import EngineSurface
from tests.field_cases.runner import Played

Beyond = Callable[[Played, "Stage"], None]
Procedure = Callable[[Case, "Stage"], None]
BEYOND: dict[str, Beyond] = {}
PROCEDURES: dict[str, Procedure] = {}


@dataclass(frozen=True, slots=True)
class Stage:
    """The shared surface, and a private folder for engines that have to be restarted or broken."""

    surface: EngineSurface
    folder: Path

    @contextmanager
    def open(self, name: str = "data", **settings: Any) -> Iterator[EngineSurface]:
        """An engine on a folder of this case; opening the same name again is a restart."""
        with Engine.open(Settings(data_dir=self.folder / name, **settings)) as engine:
            yield EngineSurface(engine)


def beyond(case_id: str) -> Callable[[Beyond], Beyond]:
    """Register what the note of a case asks for beyond its fields."""

    def register(check: Beyond) -> Beyond:
        BEYOND[case_id] = check
        return check

    return register


def procedure(case_id: str) -> Callable[[Procedure], Procedure]:
    """Register the procedure of a case that has only a note."""

    def register(act: Procedure) -> Procedure:
        PROCEDURES[case_id] = act
        return act

    return register
