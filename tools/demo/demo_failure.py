"""Why a demo cannot go on."""

from __future__ import annotations


class DemoFailure(Exception):
    """The message is one line that follows `demo: FAILED: `."""

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status
