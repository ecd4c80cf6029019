"""Waiting for jobs, as a client does: by asking."""

from __future__ import annotations

import time
from typing import Any

FINAL = ("completed", "partial", "failed", "cancelled")
JOB_SECONDS = 60


def finished(client: Any, job_id: str) -> Any:
    """The job once it is done; its progress never goes back on the way."""
    deadline = time.monotonic() + JOB_SECONDS
    seen = 0
    while time.monotonic() < deadline:
        job = client.jobs.get_status(job_id)
        count = job.result.memory_count if job.result else 0
        assert count >= seen, "progress went back"
        seen = count
        if job.status in FINAL:
            return job
        time.sleep(0.02)
    raise AssertionError(f"job {job_id} did not end within {JOB_SECONDS} s")
