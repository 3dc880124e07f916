"""What a benchmark cannot do, and its exit statuses."""

EXIT_MISSED = 1  # measured, and short of a goal
EXIT_FAILED = 3  # not measured
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """The message says what was attempted, what happened and what to do next."""
