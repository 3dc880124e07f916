"""The lab's errors and their exit statuses."""

import sys
from pathlib import Path

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 77  # ctest's and automake's "skipped": this machine cannot run a lab


class LabError(Exception):
    """A request that cannot be fulfilled. The message names the input, what was expected and what to do next."""

    def __init__(self, message: str, exit_status: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def usage_error(message: str) -> LabError:
    return LabError(message, EXIT_USAGE)


def unavailable_error(message: str) -> LabError:
    return LabError(message, EXIT_UNAVAILABLE)


def program() -> str:
    """The name of this command: lab or softroce."""
    return Path(sys.argv[0]).name


def log(text: str) -> None:
    """Prints to stderr, after the command's name."""
    print(f"{program()}: {text}", file=sys.stderr, flush=True)
