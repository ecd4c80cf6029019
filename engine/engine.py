"""The engine: one short method per verb, composed of the rooms below it.

    with Engine.open(Settings()) as engine:
        me = engine.local_owner()
        engine.remember(me, NewMemory(content="The release train leaves on Tuesdays.", path="team/release"))
        outcome = engine.search(me, Query(text="When does the release train leave?"))

One process opens a data folder at a time; inside it, an engine may be used from many threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

import structlog

from engine.domain.access import ALL_SCOPES, Principal, ReadableSpace, Space
from engine.domain.calibration import CalibrationReport, Keep, LabelledQuestion
from engine.domain.memory import (
    ForgetMode,
    Memory,
    MemoryPatch,
    MemoryVersion,
    NewMemory,
    StateUpdate,
    Written,
)
from engine.domain.outcome import ContextPack, Explanation, Outcome, Page
from engine.domain.query import ContextQuery, ListQuery, Query
from engine.embedding.factory import create as create_embedder
from engine.embedding.protocol import Embedder
from engine.errors import MemvouchError
from engine.retrieval.background import Backgrounds
from engine.retrieval.calibration import own as own_calibration
from engine.retrieval.calibration.calibrator import Calibrator
from engine.retrieval.context import recall_context
from engine.retrieval.pairs.factory import create as create_pair_scorer
from engine.retrieval.pairs.protocol import PairScorer
from engine.retrieval.reader import Reader
from engine.retrieval.search import Searcher
from engine.settings import Settings
from engine.store import spaces as space_store
from engine.store import tokens
from engine.store.database import Database
from engine.store.ids import parse_id
from engine.text.analysis import ANALYSIS_VERSION
from engine.upkeep import doctor, recovery, stats
from engine.upkeep.expiry import sweep_expired
from engine.upkeep.folder import Folder
from engine.upkeep.generations import Generations
from engine.upkeep.keeper import Keeper
from engine.upkeep.reindex import Progress, Reindexer
from engine.writing import spaces as space_writing
from engine.writing.applier import Applier
from engine.writing.changes import Changer
from engine.writing.ingest.desk import Ingest
from engine.writing.ingest.extraction import create as create_extractor
from engine.writing.remember import Rememberer
from engine.writing.replay import Replay
from engine.writing.rights import answer_to, answers_to
from engine.writing.working_state import draft

log = structlog.get_logger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


def _warm_up(*models: Embedder | PairScorer) -> None:
    """Load the models beside the opening of store and index."""
    for model in models:
        try:
            model.warm_up()
        except MemvouchError as error:
            # The first call that needs the model meets the same error and raises it to its caller.
            log.warning("warm_up_failed", model=model.id, error=str(error))


class Engine:
    """Everything that Memvouch can do, for callers in this process."""

    def __init__(
        self,
        settings: Settings,
        folder: Folder,
        database: Database,
        embedder: Embedder,
        *,
        for_reindex: bool,
        pair_scorer: PairScorer | None = None,
    ) -> None:
        """Use `open`. Takes ownership of the folder and the database."""
        self.settings = settings
        self.embedder = embedder
        self.pair_scorer = pair_scorer
        self.database = database
        self._warming: Thread | None = None
        self._folder = folder
        self._generations = Generations(settings, database, embedder, ANALYSIS_VERSION)
        self._state = self._generations.current(any_embedder=for_reindex)
        self._applier = Applier(database, self._generations.open(self._state))
        self._backgrounds = Backgrounds(lambda: self._applier.index)
        self._searcher = Searcher(
            database,
            lambda: self._applier.index,
            embedder,
            self._load_calibrator(),
            self._backgrounds,
            pool_size=settings.pool_size,
            operating_point=settings.operating_point,
            pair_scorer=pair_scorer,
        )
        self._reader = Reader(database)
        self._rememberer = Rememberer(database, embedder, self._applier)
        self._changer = Changer(database, embedder, self._applier)
        self.ingest = Ingest(database, embedder, self._applier, self._rememberer, create_extractor(settings))
        """Sources, conversations and their jobs; a host starts its workers."""
        self._keeper = Keeper(settings.flush_seconds, self._tend, self._sweep)
        if not for_reindex:
            recovery.replay_outbox(database, self._applier.index, embedder, utc_now())
            self._keeper.start()

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        pair_scorer: PairScorer | None = None,
        for_reindex: bool = False,
    ) -> Self:
        """Open a data folder, finish what a crash left, start the keeper.

        `embedder` and `pair_scorer` take the place of those that the settings name.

        `for_reindex` opens a folder whose index another embedder built; such an engine can only
        `reindex`.

        Raises:
            FolderBusy: another process has the folder open.
            EmbedderMismatch: the index was built by another embedder or text analysis.
            Unavailable: store, index or embedder do not answer.
        """
        with ExitStack() as stack:
            embedder = embedder or create_embedder(settings)
            pair_scorer = pair_scorer or create_pair_scorer(settings)
            models = (embedder,) if pair_scorer is None else (embedder, pair_scorer)
            warming = Thread(target=_warm_up, args=models, name="memvouch-warm-up", daemon=True)
            warming.start()
            # An interpreter that ends while the model's library still starts up aborts.
            stack.callback(warming.join)
            folder = Folder.open(settings.data_dir)
            stack.callback(folder.close)
            database = Database.open(settings.store_url)
            stack.callback(database.close)
            engine = cls(settings, folder, database, embedder, for_reindex=for_reindex, pair_scorer=pair_scorer)
            engine._warming = warming
            stack.pop_all()
        return engine

    def close(self) -> None:
        """Flush, stop the keeper, release the folder. Nothing acknowledged is lost without it either."""
        with ExitStack() as stack:
            stack.callback(self._folder.close)
            stack.callback(self.database.close)
            stack.callback(lambda: self._applier.index.close())
            if self._warming is not None:
                stack.callback(self._warming.join)
            self.ingest.close()
            self._keeper.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Who calls

    def local_owner(self) -> Principal:
        """The owner of this folder, with all scopes; made on first use."""
        with self.database.writing() as connection:
            owner = space_store.ensure_owner(connection, utc_now())
        return Principal(
            tenant_id=owner.tenant_id,
            user_id=owner.user_id,
            scopes=ALL_SCOPES,
            default_space_id=owner.space.id,
        )

    def authenticate(self, raw_token: str) -> Principal:
        """The caller that a token stands for. Raises `Unauthenticated`."""
        with self.database.reading() as connection:
            return tokens.authenticate(connection, raw_token, utc_now())

    # Spaces

    def create_space(
        self,
        principal: Principal,
        name: str,
        *,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        team_id: str | None = None,
    ) -> Space:
        """A new space of the caller or, with `team_id`, of a team. Raises `Conflict` for a taken name."""
        return space_writing.create(
            self.database, principal, name, utc_now(), description=description, metadata=metadata, team_id=team_id
        )

    def spaces(self, principal: Principal) -> list[ReadableSpace]:
        """All spaces that the caller may read, oldest first."""
        return self._reader.spaces(principal)

    def space(self, principal: Principal, ref: str) -> ReadableSpace:
        """A space by id or name. Raises `NotFound`."""
        return self._reader.space(principal, ref)

    def delete_space(self, principal: Principal, ref: str) -> Space:
        """Remove a space with all that is in it."""
        space = space_writing.delete(self.database, self._applier, principal, ref, utc_now())
        self._backgrounds.forget(space.id)
        return space

    # Writing. What comes back of a record says nothing to a caller without the scope to read.

    def remember(self, principal: Principal, new: NewMemory, *, idempotency_key: str | None = None) -> Written:
        """Store one memory; it can be found when this returns."""
        replay = Replay.of("remember", idempotency_key, new.content, new.path, new.space, new.kind)
        return answers_to(principal, self._rememberer.remember(principal, [new], utc_now(), replay))[0]

    def remember_many(
        self, principal: Principal, news: Sequence[NewMemory], *, idempotency_key: str | None = None
    ) -> list[Written]:
        """Store up to 1,000 memories in one transaction: all or none."""
        replay = Replay.of("remember_many", idempotency_key, [[new.content, new.path, new.space] for new in news])
        return answers_to(principal, self._rememberer.remember(principal, news, utc_now(), replay)) if news else []

    def update(
        self, principal: Principal, memory_id: str, patch: MemoryPatch, *, idempotency_key: str | None = None
    ) -> Memory:
        """Change a record; every change that a reader can see makes a new version."""
        replay = Replay.of("update", idempotency_key, memory_id, patch.content, patch.path)
        return answer_to(principal, self._changer.update(principal, memory_id, patch, utc_now(), replay))

    def forget(
        self,
        principal: Principal,
        memory_id: str,
        mode: ForgetMode = ForgetMode.SOFT,
        *,
        reason: str | None = None,
        replacement: str | None = None,
    ) -> Memory | None:
        """Forget a record softly, for good, or redact it. `None` when nothing is left of it."""
        left = self._changer.forget(principal, memory_id, mode, utc_now(), reason=reason, replacement=replacement)
        return None if left is None else answer_to(principal, left)

    def restore(self, principal: Principal, memory_id: str) -> Memory:
        """Bring a softly forgotten record back under its id."""
        return answer_to(principal, self._changer.restore(principal, memory_id, utc_now()))

    def update_state(self, principal: Principal, update: StateUpdate, *, idempotency_key: str | None = None) -> Written:
        """Write working state: the next version of its slot."""
        now = utc_now()
        new = draft(update, now)
        replay = Replay.of("update_state", idempotency_key, new.content, new.state_key)
        return answers_to(principal, self._rememberer.remember(principal, [new], now, replay))[0]

    # Reading

    def search(self, principal: Principal, query: Query) -> Outcome:
        """Answer a question, strictly or forgivingly (`query.mode`)."""
        outcome = self._searcher.search(principal, query, utc_now())
        self._reader.seen(outcome)
        return outcome

    def recall_context(self, principal: Principal, query: ContextQuery) -> ContextPack:
        """Several memories, packed into a token budget."""
        packed = recall_context(self._searcher, principal, query, utc_now())
        self._reader.seen_ids([item.hit.memory.id for item in packed.items])
        return packed

    def get(self, principal: Principal, memory_id: str) -> Memory:
        """One live record. Raises `NotFound` for missing, deleted, expired and foreign ones alike."""
        return self._reader.get(principal, parse_id(memory_id), utc_now())

    def versions(self, principal: Principal, memory_id: str) -> list[MemoryVersion]:
        """Former states of a live record, newest first."""
        return self._reader.versions(principal, parse_id(memory_id), utc_now())

    def list_memories(self, principal: Principal, query: ListQuery) -> Page:
        """A page of records under filters, without ranking."""
        return self._reader.page(principal, query, utc_now())

    def explain(self, principal: Principal, memory_id: str, query_text: str | None = None) -> Explanation:
        """One record and, for a question, the verdict that strict mode passes on it."""
        now = utc_now()
        memory = self._reader.get(principal, parse_id(memory_id), now)
        versions = self._reader.versions(principal, memory.id, now)
        considered = self._searcher.consider(principal, memory, query_text, now) if query_text else None
        return Explanation(memory, len(versions) + 1, considered, self._searcher.threshold if considered else None)

    # Upkeep

    def stats(self, principal: Principal, spaces: Sequence[str] = ()) -> list[stats.SpaceStats]:
        """Counts of the named spaces, or of all that the caller may read."""
        found = [self.space(principal, ref) for ref in spaces] if spaces else self.spaces(principal)
        with self.database.reading() as connection:
            return stats.collect(connection, found, utc_now())

    def doctor(self, *, repair: bool = False) -> doctor.Report:
        """Compare truth and index; with `repair`, make the index equal and compare again."""
        with self._applier.paused():
            self._tend()
            report = doctor.examine(self.database, self._applier.index, self.embedder, ANALYSIS_VERSION, utc_now())
            if repair and not report.equal:
                report = doctor.repair(self.database, self._applier.index, self.embedder, report, utc_now())
        scorer = self.pair_scorer.id if self.pair_scorer else None
        return replace(report, pair_scorer=scorer, calibration=self._searcher.calibrated_by)

    def calibrate(
        self,
        principal: Principal,
        questions: Sequence[LabelledQuestion],
        *,
        keep: Keep = Keep.IF_BETTER,
        progress: Progress | None = None,
    ) -> CalibrationReport:
        """Fit a calibration on labelled questions and, as `keep` says, put it to use at once.

        Raises `InvalidRequest` for labels that cannot be used, `Forbidden` without the scope
        memory:admin, `Unavailable` while anything that weighs a record is down.
        """
        now = utc_now()
        own_calibration.check(self.database, principal, questions, now)
        asked = own_calibration.ask(self._searcher, principal, questions, now, progress)
        scorer = self.pair_scorer.id if self.pair_scorer else None
        fitted = own_calibration.fit(asked, self.embedder.id, scorer, self.settings.operating_point, now)
        if keep is Keep.NEVER or (keep is Keep.IF_BETTER and not fitted.report.better):
            return fitted.report
        fitted.write(self.settings.data_dir)
        self._searcher.use(self._load_calibrator())
        return replace(fitted.report, written=True)

    def reset_calibration(self, principal: Principal) -> bool:
        """Go back to the shipped calibration at once. Says whether there was one of the user's own."""
        existed = own_calibration.reset(self.settings.data_dir, principal)
        self._searcher.use(self._load_calibrator())
        return existed

    def reindex(self, progress: Progress | None = None) -> int:
        """Build the index anew with the present embedder while reads go on. Returns records written."""
        reindexer = Reindexer(self.database, self._applier, self.embedder, self._generations, self._journal_path)
        self._state, written = reindexer.run(self._state, utc_now, progress)
        self._backgrounds.clear()
        return written

    def sweep_expired(self) -> int:
        """Take expired records out of statistics and index; reads hide them at once without it."""
        return sweep_expired(self.database, self._applier, utc_now())

    def _load_calibrator(self) -> Calibrator:
        scorer = self.pair_scorer.id if self.pair_scorer else None
        calibrator = Calibrator.load(self.embedder.id, self.settings.data_dir, scorer)
        if calibrator.notice:
            log.warning("own_calibration_left_aside", reason=calibrator.notice)
        return calibrator

    @property
    def _journal_path(self) -> Path:
        return self.settings.data_dir / "reindex.json"

    def _tend(self) -> None:
        if self._applier.unapplied.is_set():
            with self._applier.paused():
                recovery.replay_outbox(self.database, self._applier.index, self.embedder, utc_now())
                self._applier.unapplied.clear()
        self._applier.flush()
        self._reader.record_accesses(utc_now())

    def _sweep(self) -> None:
        self.sweep_expired()
