"""Rate, delay and loss of a cable: their notation, and the kernel's queueing disciplines that implement them.

Rate: a token bucket (tbf) on each end's egress. By default its burst is the larger of 128 KiB, so that a 64 KiB
segmentation offload packet passes whole, and 1 ms at the rate, so that a late timer costs no throughput. A slow cable
that was idle therefore exceeds its rate for a moment, which a wire does not: use a smaller burst there. Its queue holds
16 MiB: the kernel counts a socket buffer of 2 MiB as 4 MiB, so the forwarded bytes of four such senders are not dropped.
(A sender on the node itself sees no drops at any queue length: the kernel applies backpressure.)

Delay and loss: netem where the kernel has it. Where it does not, loss is a random drop in nftables at the receiving end
(a drop at the sending end would be reported to the sender), and delay is a process in the cable: see delay_line.py. Loss
counts packets as the kernel handles them: a segmentation offload packet of 64 KiB is lost whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import kernel_tools
from lab_error import unavailable_error, usage_error

QUEUE_BYTES = 16 << 20
_DEFAULT_BURST_BYTES = 128 << 10
_MIN_BURST_BYTES = 2 << 10
_BURST_UNITS = {"kib": 1 << 10, "mib": 1 << 20}
_NETEM_QUEUE_PACKETS = 100_000
_RATE_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
_TIME_UNITS = {"us": 1, "ms": 10**3, "s": 10**6}
_MIN_RATE_BPS, _MAX_RATE_BPS = 8_000, 10**12
_MAX_DELAY_US = 10 * 10**6
_TABLE = "netdev cableway_lab"


def parse_rate(text: str) -> int:
    """'1gbit' -> bits per second; 'none' -> 0."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(bit|kbit|mbit|gbit|tbit)", text.lower())
    rate = round(float(match[1]) * _RATE_UNITS[match[2]]) if match else 0
    if text != "none" and not _MIN_RATE_BPS <= rate <= _MAX_RATE_BPS:
        raise usage_error(f"rate '{text}': expected a rate from 8kbit to 1tbit, such as 200mbit or 1gbit, or 'none'")
    return rate


def parse_delay(text: str) -> int:
    """'1ms' -> microseconds; 'none' -> 0."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(us|ms|s)", text.lower())
    delay = round(float(match[1]) * _TIME_UNITS[match[2]]) if match else 0
    if text != "none" and (match is None or delay > _MAX_DELAY_US):
        raise usage_error(f"delay '{text}': expected a time up to 10s, such as 500us or 1ms, or 'none'")
    return delay


def parse_burst(text: str) -> int:
    """'32KiB' -> bytes."""
    match = re.fullmatch(r"([0-9]+)(kib|mib)", text.lower())
    burst = int(match[1]) * _BURST_UNITS[match[2]] if match else 0
    if not _MIN_BURST_BYTES <= burst <= QUEUE_BYTES:
        raise usage_error(f"burst '{text}': expected 2KiB to 16MiB, such as 32KiB")
    return burst


def parse_loss(text: str) -> int:
    """'0.1%' -> packets lost per million; 'none' -> 0."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", text)
    loss = round(float(match[1]) * 10**4) if match else 0
    if text != "none" and (match is None or loss > 10**6):
        raise usage_error(f"loss '{text}': expected a percentage up to 100%, such as 0.1%, or 'none'")
    return loss


def rate_text(rate_bps: int) -> str:
    for unit in ("tbit", "gbit", "mbit", "kbit"):
        if rate_bps >= _RATE_UNITS[unit]:
            return f"{rate_bps / _RATE_UNITS[unit]:g}{unit}"
    return f"{rate_bps}bit" if rate_bps else "none"


def delay_text(delay_us: int) -> str:
    return f"{delay_us / 1000:g}ms" if delay_us else "none"


def loss_text(loss_ppm: int) -> str:
    return f"{loss_ppm / 10**4:g}%" if loss_ppm else "none"


@dataclass(frozen=True)
class Shape:
    """The shaping of a cable, the same in both directions. Zero disables each."""

    rate_bps: int = 0
    delay_us: int = 0
    loss_ppm: int = 0
    burst_bytes: int = 0  # 0: the default for the rate


@dataclass(frozen=True)
class Means:
    """The shaping tools that work on this machine."""

    netem: bool
    nft: bool


def probe_means() -> Means:
    """Tries netem and nft on this namespace's loopback interface."""
    netem = kernel_tools.accepts("tc", "qdisc add dev lo root netem delay 1ms")
    if netem:
        kernel_tools.batch("tc", ["qdisc del dev lo root"])
    probe_table = "netdev cableway_probe"
    nft = kernel_tools.has_tool("nft") and kernel_tools.accepts("nft", f"add table {probe_table}")
    if nft:
        kernel_tools.nft(f"delete table {probe_table}\n")
    return Means(netem, nft)


def check_means(shape: Shape, means: Means, has_delay_line: bool) -> None:
    """Raises LabError that names what is missing for this shape."""
    if shape.delay_us and not means.netem and not has_delay_line:
        raise unavailable_error(
            f"delay {delay_text(shape.delay_us)}: this kernel lacks netem (CONFIG_NET_SCH_NETEM), and the cable was"
            " built without a delay line: build the lab with --delay (lab run SPEC --delay 0ms ...)")
    if shape.loss_ppm and not means.netem and not means.nft:
        raise unavailable_error(
            f"loss {loss_text(shape.loss_ppm)}: this kernel lacks netem (CONFIG_NET_SCH_NETEM), and nft (package"
            " nftables, CONFIG_NF_TABLES_NETDEV) does not work here: install it, or use another kernel")


def burst_of(shape: Shape) -> int:
    """The bytes that may leave at once after a pause."""
    return shape.burst_bytes or max(_DEFAULT_BURST_BYTES, shape.rate_bps // 8 // 1000)


def _tbf(shape: Shape) -> str:
    return f"tbf rate {shape.rate_bps}bit burst {burst_of(shape)} limit {QUEUE_BYTES}"


def _uses_netem(shape: Shape, means: Means) -> bool:
    return means.netem and bool(shape.delay_us or shape.loss_ppm)


def _disciplines(shape: Shape, means: Means) -> tuple[bool, bool]:
    return _uses_netem(shape, means), shape.rate_bps > 0


def egress_lines(interface: str, before: Shape | None, after: Shape, means: Means) -> list[str]:
    """tc's commands that change an end's egress from one shape to another; `before` is None after a silent cut. If only
    numbers change, the disciplines stay and keep their queues."""
    lines = []
    if before is None or _disciplines(before, means) not in ((False, False), _disciplines(after, means)):
        lines.append(f"qdisc replace dev {interface} root noqueue")
    if _uses_netem(after, means):
        lines.append(f"qdisc replace dev {interface} root handle 2: netem limit {_NETEM_QUEUE_PACKETS}"
                     f" delay {after.delay_us}us loss {after.loss_ppm / 10**4:.4f}%")
        if after.rate_bps:
            lines.append(f"qdisc replace dev {interface} parent 2:1 handle 3: {_tbf(after)}")
    elif after.rate_bps:
        lines.append(f"qdisc replace dev {interface} root handle 1: {_tbf(after)}")
    return lines


def silent_cut_line(interface: str) -> str:
    """tc's command that drops what an end sends while its link stays up."""
    return f"qdisc replace dev {interface} root handle 4: blackhole"


def ingress_ruleset(interface: str, cable_number: int, loss_ppm: int) -> str:
    """nft's rules that lose packets at the receiving end; loss 0 removes an earlier rule."""
    chain = f"{_TABLE} loss{cable_number}"
    lines = [f"add table {_TABLE}",
             f'add chain {chain} {{ type filter hook ingress device "{interface}" priority 0; }}',
             f"flush chain {chain}"]
    if loss_ppm:
        lines.append(f"add rule {chain} numgen random mod 1000000 < {loss_ppm} drop")
    return "\n".join(lines) + "\n"
