"""The rate of a port that is no interface of the kernel's: a token bucket, as tbf is."""

from __future__ import annotations


class TokenBucket:
    """How many bytes may pass by now: the rate fills it up to the burst, and what passes is taken out. It starts full.
    Times are in seconds, of a clock that never goes back."""

    def __init__(self, rate_bps: int, burst_bytes: int) -> None:
        self._bytes_per_s = rate_bps / 8
        self._burst_bytes = burst_bytes
        self._tokens = float(burst_bytes)
        self._filled_at = 0.0

    def wait_s(self, size: int, now: float) -> float:
        """How long until `size` bytes, not more than the burst, may pass; 0.0 where they may at once."""
        self._tokens = min(self._burst_bytes, self._tokens + (now - self._filled_at) * self._bytes_per_s)
        self._filled_at = now
        return max(0.0, (size - self._tokens) / self._bytes_per_s)

    def spend(self, size: int) -> None:
        """They have passed."""
        self._tokens -= size
