"""A process that ingests and waits to be killed: prints its jobs, then `writing` once memories appear."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.engines import open_engine
from tests.ingest.test_worker import talk


def main(folder: str, sources: str, messages: str) -> None:
    with open_engine(Path(folder)) as engine:
        me = engine.local_owner()
        jobs = [
            engine.ingest.take_conversation(me, "default", talk(number, int(messages))).job_id
            for number in range(int(sources))
        ]
        print(json.dumps(jobs), flush=True)
        engine.ingest.start(2)
        while not engine.ingest.memories(me, None, limit=1)[1]:
            time.sleep(0.001)
        print("writing", flush=True)
        time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
