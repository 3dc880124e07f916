"""What a benchmark cannot do, and its exit statuses."""

from __future__ import annotations

import sys
from collections.abc import Callable

EXIT_MISSED = 1  # measured, and short of a goal
EXIT_FAILED = 3  # not measured
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """The message says what was attempted, what happened and what to do next."""


def exit_status(run: Callable[[], int]) -> int:
    """What `run` returns; an error is printed."""
    try:
        return run()
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
