"""Shapes a port that is not a kernel interface: a token bucket, as in tbf."""

from __future__ import annotations


class TokenBucket:
    """A count of bytes that may pass now: filled at the rate up to the burst, reduced by what passes. It starts full.
    Times are in seconds of a monotonic clock."""

    def __init__(self, rate_bps: int, burst_bytes: int) -> None:
        self._bytes_per_s = rate_bps / 8
        self._burst_bytes = burst_bytes
        self._tokens = float(burst_bytes)
        self._filled_at = 0.0

    def wait_s(self, size: int, now: float) -> float:
        """Seconds until `size` bytes, not more than the burst, may pass; 0.0 if they may now."""
        self._tokens = min(self._burst_bytes, self._tokens + (now - self._filled_at) * self._bytes_per_s)
        self._filled_at = now
        return max(0.0, (size - self._tokens) / self._bytes_per_s)

    def spend(self, size: int) -> None:
        """Removes `size` bytes, which have passed."""
        self._tokens -= size
