"""How many hard cases hold: counted during a run, told in its summary, never a failure."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class HardCases:
    """The ids of hard cases that held and of those that did not, in the order of the run."""

    holding: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def held(self, case_id: str) -> None:
        self.holding.append(case_id)

    def missed(self, case_id: str) -> None:
        self.missing.append(case_id)

    @property
    def summary(self) -> str | None:
        """One line, or `None` if no hard case was run."""
        total = len(self.holding) + len(self.missing)
        if not total:
            return None
        told = f"hard field cases: {len(self.holding)} of {total} hold ({len(self.holding) / total:.0%})"
        return f"{told}; missed: {', '.join(self.missing)}" if self.missing else told
