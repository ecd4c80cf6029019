"""Make `engine/retrieval/evidence/data/lexicon.npz` from the training groups.

    python -m benchmarks.make_lexicon --cache /var/tmp/memvouch-fit

A stem's share is the mean, over the English sets, of the share of texts that hold it; a word or
bigram of another language has the share in the texts of that language. The vector of a stem is the
bundled embedding of its most frequent surface, centred and reduced to its main directions. Fit the
calibration again afterwards.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared_data import shared_folder
from benchmarks.synthetic_spaces import sets_of
from benchmarks.vector_cache import VectorCache
from engine.embedding.bundled import BundledEmbedder
from engine.retrieval.evidence.lexicon import LEXICON_FILE
from engine.text.analysis import TermKind, analyse

ENGLISH_STEMS, OTHER_TERMS, NUMBERS = 14_000, 9_000, 500
DIRECTIONS = 96
GROUPS_PER_SET = 1500
LEAST_SURFACES = 4
LEAST_TEXTS, LEAST_SHARE = 5, 0.0015


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lexicon; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=shared_folder())
    parser.add_argument("--cache", type=Path, default=Path("/var/tmp/memvouch-fit"))
    options = parser.parse_args(arguments)
    train = options.shared / "train"
    embedder = BundledEmbedder(threads=1)
    cache = VectorCache(embedder, options.cache)
    stems, numbers, surfaces = _english(train)
    listed = set(stems) | set(numbers)
    others = [(term, share) for term, share in _others(train) if term not in listed][:OTHER_TERMS]
    vectors = _reduced(cache.vectors([surfaces[stem] for stem in stems]))
    shares = [*stems.values(), *numbers.values(), *(share for _, share in others)]
    words = [*stems, *numbers, *(term for term, _ in others)]
    np.savez_compressed(
        LEXICON_FILE,
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        shares=np.array(shares, np.float32),
        vectors=np.concatenate([_int8(vectors), np.zeros((len(words) - len(stems), DIRECTIONS), np.int8)]),
    )
    print(f"{len(stems)} stems, {len(numbers)} numbers, {len(others)} other terms")
    return 0


def _texts(train: Path, name: str) -> Iterator[tuple[str, set[str]]]:
    """The language and texts of the first groups of a set, group by group."""
    with (train / name / "groups.jsonl").open(encoding="utf-8") as lines:
        for _, line in zip(range(GROUPS_PER_SET), lines, strict=False):
            group = json.loads(line)
            yield group["lang"], {group["query"], *group["positives"][:1], *group["negatives"][:1]}


def _english(train: Path) -> tuple[dict[str, float], dict[str, float], Mapping[str, str]]:
    """Shares of stems and of numbers, most frequent first, and the usual surface of each stem."""
    totals: defaultdict[str, float] = defaultdict(float)
    surfaces: defaultdict[str, Counter[str]] = defaultdict(Counter)
    sets = 0
    for name in sets_of(train):
        texts = {text for language, group in _texts(train, name) if language == "en" for text in group}
        if len(texts) < 100:
            continue
        sets += 1
        counts: Counter[str] = Counter()
        for text in texts:
            found = {term.text: term for term in analyse(text).terms if term.kind in _COUNTED}
            counts.update(found.keys())
            for stem, term in found.items():
                if term.kind is TermKind.WORD:
                    surfaces[stem][term.surface.lower()] += 1
        for stem, count in counts.items():
            totals[stem] += count / len(texts)
    shares = {stem: total / sets for stem, total in sorted(totals.items(), key=lambda each: (-each[1], each[0]))}
    usual = {stem: max(seen.items(), key=lambda each: (each[1], each[0]))[0] for stem, seen in surfaces.items()}
    often = {stem for stem, seen in surfaces.items() if seen.total() >= LEAST_SURFACES}
    stems = [stem for stem in shares if stem in often and _is_stem(stem)]
    numbers = [number for number in shares if number.isascii() and number.isdigit()]
    return (
        {stem: shares[stem] for stem in stems[:ENGLISH_STEMS]},
        {number: shares[number] for number in numbers[:NUMBERS]},
        usual,
    )


_COUNTED = frozenset({TermKind.WORD, TermKind.NUMBER, TermKind.PART})


def _is_stem(term: str) -> bool:
    return len(term) > 1 and term.isascii() and term.isalpha()


def _others(train: Path) -> list[tuple[str, float]]:
    """Terms of other languages with the share in texts of their language, most frequent first."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for name in sets_of(train):
        for language, group in _texts(train, name):
            if language != "en":
                texts[language.removesuffix("-TW")] |= group
    shares: dict[str, float] = {}
    for own in texts.values():
        if len(own) < 100:
            continue
        counts = Counter(term for text in own for term in {each.text for each in analyse(text).terms})
        for term, count in counts.items():
            if (
                count >= LEAST_TEXTS
                and count / len(own) >= LEAST_SHARE
                and not term.startswith("id:")
                and "\n" not in term
            ):
                shares[term] = max(shares.get(term, 0.0), count / len(own))
    return sorted(shares.items(), key=lambda each: (-each[1], each[0]))


def _reduced(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    reduced = centred @ directions[:DIRECTIONS].T
    return np.asarray(reduced / np.linalg.norm(reduced, axis=1, keepdims=True))


def _int8(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    scaled = np.round(vectors * 127 / np.abs(vectors).max(axis=1, keepdims=True))
    return np.asarray(np.clip(scaled, -127, 127), np.int8)


if __name__ == "__main__":
    raise SystemExit(main())
