"""The text of the hostile benchmark: its sections of docs/benchmarks.md and docs/security.md, and its last line."""

from __future__ import annotations

from collections.abc import Sequence

from hostile_results import AFTER_S, LEAST_RATIO, MOST_CORES, MOST_JOB_S, MOST_MEMORY_BYTES, MOST_NAMED_JOB_S, Result
from machine import facts_table
from mesh_state import PROBLEMS_THAT_STAY

_GOALS = (f"traffic >= {LEAST_RATIO}, a new job <= {MOST_JOB_S:g} s (<= {MOST_NAMED_JOB_S:g} s where the attack names both"
          f" of its nodes), memory <= {MOST_MEMORY_BYTES / 1e6:.0f} MB,"
          f" <= {MOST_CORES} cores more, no cable between others lost, and nothing that differs {AFTER_S:g} s after the end")

_INTRO = """\
`tools/bench.sh hostile`: a line of four network namespaces n0 to n3 with cables of 500 Mbit/s and one key, and an attacker with
two cables to n1. What is attacked is the relay n1, and through it the others. Each attack runs against newly started nodes.

- traffic: TCP bytes that arrive at n2 from n0 through n1, every one checked, in {seconds:g} s with the attack from its
  beginning on, compared with the {seconds:g} s before it.
- new job: from the start of two processes, on n3 and n0, until they have moved 64 KiB through n2 and n1, checked them and
  ended. The longest of {tries}, during the attack.
- memory: the highest resident size of the node that grew most, above what it had with the traffic before the attack.
- cores: of the node that uses most more than before the attack. What the kernel does for arriving packets is not in it.
- afterwards: what honest nodes lack of each other's cables and paths {after:g} s after the end, and problems that should be
  over. Those that stay for a time by design are in brackets: {staying}.

The attackers share the processors with all nodes; the controls show how much two measurements without an attack differ.
An insider exits without a leaving hello. Reported as: codes of warnings and refusals of honest nodes during the attack.
Goals: {goals}."""

_SHORT_INTRO = """\
`tools/bench.sh hostile`, four nodes in a line on cables of 500 Mbit/s, with a key; the attacker has two cables to n1, which
relays ([benchmarks.md](benchmarks.md#what-attacks-cost) has what was measured, how, and on what). Goals: {goals}.
"Earlier": what the same did to nodes before the bounds of decisions 0025 to 0028. It was found by hand, not by this
benchmark, at other rates for some; "-": not tried."""


def _job(result: Result) -> str:
    return "**failed**" if result.job_failures else f"{result.worst_job_s:.2f} s"


def _afterwards(result: Result) -> str:
    differs = "; ".join(result.differs) or "nothing"
    return f"{differs} ({', '.join(result.stays)})" if result.stays else differs


def _attack(result: Result) -> str:
    sent = "" if result.per_second is None else f" ({result.per_second:,.0f}/s sent)"
    return f"{result.who}: {result.what}{sent}"


def table(results: Sequence[Result], has_earlier: bool = False) -> list[str]:
    first = "attack | earlier" if has_earlier else "attack"
    lines = [f"| {first} | traffic, MB/s | with it | ratio | new job | memory, MB | cores | afterwards | reported as | goals |",
             "|---" * (11 if has_earlier else 10) + "|"]
    for result in results:
        attack = f"{_attack(result)} | {result.earlier}" if has_earlier else _attack(result)
        if result.note:
            lines.append(f"| {attack} | {result.note} | | | | | | | | |")
            continue
        node, cores = result.busiest()
        lines.append(f"| {attack} | {result.before_bytes_per_s / 1e6:.1f} | {result.during_bytes_per_s / 1e6:.1f} |"
                     f" {result.ratio:.3f} | {_job(result)} | {result.most_memory_bytes / 1e6:.1f} | {cores:+.3f} {node} |"
                     f" {_afterwards(result)} | {', '.join(result.named_by) or '-'} |"
                     f" {'**missed**' if result.missed() else 'met'} |")
    return lines


def missed(results: Sequence[Result]) -> list[str]:
    return [line for result in results for line in result.missed()]


def _missed_lines(results: Sequence[Result]) -> list[str]:
    lines = [f"- **{line.splitlines()[0]}**" for line in missed(results)]
    return ["", *lines] if lines else []


def section(results: Sequence[Result], facts: dict[str, str], seconds: float, tries: int) -> str:
    """Of docs/benchmarks.md."""
    staying = ", ".join(f"`{code}` ({how_long})" for code, how_long in PROBLEMS_THAT_STAY.items())
    intro = _INTRO.format(seconds=seconds, tries=tries, after=AFTER_S, goals=_GOALS, staying=staying)
    return "\n".join(["## What attacks cost", "", intro, "", *facts_table(facts), "", *table(results), *_missed_lines(results),
                      "", f"`{last_line(results)}`"])


def security_section(results: Sequence[Result]) -> str:
    """Of docs/security.md."""
    return "\n".join(["## What attacks cost", "", _SHORT_INTRO.format(goals=_GOALS), "", *table(results, True),
                      *_missed_lines(results)])


def last_line(results: Sequence[Result]) -> str:
    run = [result for result in results if not result.note]
    return (f"hostile: {len(run)} attacks, {sum(bool(result.missed()) for result in run)} with missed goals, least ratio"
            f" {min((result.ratio for result in run), default=0):.3f}")
