"""The results of the relay benchmark as text: a section of docs/benchmarks.md, a summary for the terminal, the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from machine import facts_table
from pair_run import MESSAGES_IN_FLIGHT, WINDOW_SHARE, Way
from relay_measurements import LATENCY_WAYS, SHAPED_WAYS, SLEEP_US, UNSHAPED_WAYS, YIELD_US, Measurements

_RATIO_GOALS = {1: 0.99, 3: 0.98}  # relays: minimum share of direct throughput; the exit status depends on these
_FORWARDING_SHARE = 0.8
_LATENCY_FACTOR = 1.5
_FORWARDED, _RELAYED = Way(1, forwarded=True), Way(1)


def ratios(measurements: Measurements) -> list[float]:
    """Median throughput through 0, 1, 2, 3 relays over the median of direct throughput, cables at 1 Gbit/s."""
    medians = [measurements.shaped.throughput(way, SLEEP_US).median for way in SHAPED_WAYS]
    return [median / medians[0] for median in medians]


def ratio_line(measurements: Measurements) -> str:
    return "relay: " + " ".join(f"{ratio:.3f}" for ratio in ratios(measurements))


def missed_ratios(measurements: Measurements) -> list[str]:
    """The missed goals on which the exit status depends, one line each."""
    found = ratios(measurements)
    return [f"MISSED: throughput through {Way(relays).name} is {found[relays]:.4f} of direct; the goal is >= {goal}"
            for relays, goal in _RATIO_GOALS.items() if found[relays] < goal]


@dataclass(frozen=True)
class Verdict:
    what: str
    found: float
    goal: str
    met: bool

    def row(self) -> str:
        return f"| {self.what} | {self.found:.3f} | {self.goal} | {'met' if self.met else '**missed**'} |"


def verdicts(m: Measurements) -> list[Verdict]:
    found = ratios(m)
    rows = [Verdict(f"throughput through {Way(relays).name} / direct, 1 Gbit/s", found[relays], f">= {goal}",
                    found[relays] >= goal) for relays, goal in _RATIO_GOALS.items()]
    for idle_us in (SLEEP_US, YIELD_US):
        share = (m.unshaped.throughput(_RELAYED, idle_us).median / m.unshaped.throughput(_FORWARDED, idle_us).median)
        rows.append(Verdict(f"unshaped throughput, 1 relay / 1 router, endpoints {_waiting(idle_us)}", share,
                            f">= {_FORWARDING_SHARE}", share >= _FORWARDING_SHARE))
    for placement, series in m.latency.items():
        factor = series.latency(_RELAYED, YIELD_US).median / series.latency(_FORWARDED, YIELD_US).median
        rows.append(Verdict(f"8-byte latency, 1 relay / 1 router, {placement.name}", factor, f"<= {_LATENCY_FACTOR}",
                            factor <= _LATENCY_FACTOR))
    return rows


def _waiting(idle_us: int) -> str:
    return f"sleep {idle_us} us" if idle_us else "yield"


def _shaped_table(m: Measurements) -> list[str]:
    lines = ["| between | GB/s, median | min..max | / direct |", "|---|---|---|---|"]
    for way, ratio in zip(SHAPED_WAYS, ratios(m)):
        spread = m.shaped.throughput(way, SLEEP_US)
        lines.append(f"| {way.name} | {spread.median:.4f} | {spread.range_text('.4f')} | {ratio:.3f} |")
    return lines


def _machine_cpu(m: Measurements, way: Way, idle_us: int) -> str:
    if m.machine_was_busy():
        return "unknown |"  # other work distorts it
    spread = m.unshaped.machine_cpu(way, idle_us)
    return f"{spread.median:.3f} | {spread.range_text('.3f')}"


def _unshaped_table(m: Measurements) -> list[str]:
    lines = ["| endpoints that wait | between | GB/s, median | min..max | / router | CPU s per GB, machine | min..max |"
             " of these in the processes |", "|---|---|---|---|---|---|---|---|"]
    for idle_us in (SLEEP_US, YIELD_US):
        forwarded = m.unshaped.throughput(_FORWARDED, idle_us).median
        for way in UNSHAPED_WAYS:
            spread, cpu = m.unshaped.throughput(way, idle_us), _machine_cpu(m, way, idle_us)
            shares = ", ".join(f"{name} {s:.3f}" for name, s in m.unshaped.process_cpu(way, idle_us).items())
            lines.append(f"| {_waiting(idle_us)} | {way.name} | {spread.median:.3f} | {spread.range_text('.3f')} |"
                         f" {spread.median / forwarded:.3f} | {cpu} | {shares} |")
    return lines


def _latency_table(m: Measurements) -> list[str]:
    lines = ["| CPUs | between | us, median | min..max | / as many routers |", "|---|---|---|---|---|"]
    for placement, series in m.latency.items():
        for way in LATENCY_WAYS:
            spread = series.latency(way, YIELD_US)
            factor = ""
            if way.hops_between and not way.forwarded:
                routers = series.latency(Way(way.hops_between, forwarded=True), YIELD_US).median
                factor = f"{spread.median / routers:.2f}"
            lines.append(f"| {placement.name} | {way.name} | {spread.median:.1f} | {spread.range_text('.1f')} |"
                         f" {factor} |")
    return lines


def _verdict_table(m: Measurements) -> list[str]:
    return ["| what | result | goal | |", "|---|---|---|---|", *(verdict.row() for verdict in verdicts(m))]


def _busy_note(m: Measurements) -> list[str]:
    if not m.machine_was_busy():
        return []
    return [f"**The machine was busy with other work ({m.idle_rate:.2f} CPU seconds per second before the start), so"
            " these results are not meaningful.**"]


def _method(m: Measurements) -> str:
    return f"""\
`tools/bench.sh relay`: a line of five network namespaces on one machine. The first sends to the second (direct), to the
third (through one relay) and so on, with collperf on the plugin; the last operation of every run is checked byte by
byte. Messages of 4 MiB, {MESSAGES_IN_FLIGHT} in flight, one connection, at least {m.plan.throughput_s:g} s;
medians over {m.plan.repeats} round(s) in which all cases take turns."""


_SHAPED_METHOD = f"""\
The cable is the limit, not the CPU. Waiting endpoints sleep {SLEEP_US} us: real ones have dedicated machines, and here
they would take the CPUs from the relays."""


def _unshaped_method(m: Measurements) -> str:
    return f"""\
The same bytes, plugin and sockets; between them one relay (`cablewayd`) or one router (the kernel's `ip_forward`, one
TCP connection end to end). CPU time is the machine's busy time from `/proc/stat`, soft interrupts included, minus
{m.idle_rate:.3f} s per second of the idle machine, divided by the bytes that the receiver's interfaces counted, in
{WINDOW_SHARE:g} of each run's time. The kernel forwards in soft interrupts in the context of any running process, so
the processes' own times (as getrusage counts them) show where CPU time was spent, not for whom. Endpoints that yield,
as NCCL's threads do, always keep the CPUs busy: their CPU time per byte only reflects the duration."""


_LATENCY_METHOD = """\
Half a round trip, p50, without rate limits. Waiting endpoints yield, as NCCL's threads do, so on a small machine they
keep all CPUs busy, and a relay has to wait for one; the kernel forwards in the sender's context. With the endpoints, of
which only one is active at a time, on one CPU, relays and endpoints have a free CPU, as on dedicated hosts."""


def _table(lines: list[str]) -> str:
    return "\n".join(lines)


def section_text(m: Measurements, facts: dict[str, str]) -> str:
    paragraphs = ["## Relaying", _method(m), *_busy_note(m), _table(facts_table(facts)), _table(_verdict_table(m)),
                  "### Cables of 1 Gbit/s", _SHAPED_METHOD, _table(_shaped_table(m)),
                  "### Compared to kernel IP forwarding, without rate limits", _unshaped_method(m),
                  _table(_unshaped_table(m)),
                  "### 8-byte latency", _LATENCY_METHOD, _table(_latency_table(m))]
    return "\n\n".join(paragraphs)


def summary_text(m: Measurements) -> str:
    """The tables as shown on the terminal."""
    return "\n\n".join(map(_table, (_shaped_table(m), _unshaped_table(m), _latency_table(m), _verdict_table(m)))) + "\n"
