"""A self-hosted memory tells nobody that it runs.

onnxruntime (seen in 1.32 for Linux) carries a telemetry client that starts when it is imported and
leaves a session file in the temporary folder. It reads this variable once, so it has to be set
before the first import. Whoever imports onnxruntime, or a library that does, calls `keep_quiet` first.
"""

from __future__ import annotations

import os

SWITCH = "ORT_DISABLE_TELEMETRY"


def keep_quiet() -> None:
    """Turn onnxruntime's telemetry off, unless the user has set the variable."""
    os.environ.setdefault(SWITCH, "1")
