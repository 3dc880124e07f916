"""The error of a benchmark, and the exit statuses."""

from __future__ import annotations

import sys
from collections.abc import Callable

EXIT_MISSED = 1  # measured, but a goal was missed
EXIT_FAILED = 3  # not measured
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """The message tells what was attempted, what happened and what to do next."""

    def __init__(self, message: str, status: int = EXIT_FAILED):
        super().__init__(message)
        self.status = status


def exit_status(run: Callable[[], int]) -> int:
    """Returns the result of `run`; prints an error."""
    try:
        return run()
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
