"""The kinds of fault for which failover is measured, and the goals of each. Each fault ends the path through one relay and
leaves the other one."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from failover_lab import DESTINATION, SOURCE, FailoverLab

# The time in which a stopped relay that goes on, or a mended cable, could still do harm before its node is replaced.
_AFTERMATH_S = 0.2


@dataclass(frozen=True)
class Goal:
    """The longest time until data comes over another path, for this percentage of the faults; 100: for all."""

    percent: int
    most_ms: float

    def __str__(self) -> str:
        name = "max" if self.percent == 100 else f"p{self.percent}"
        return f"{name} <= {self.most_ms:g} ms"


@dataclass(frozen=True)
class FaultKind:
    name: str
    meaning: str
    cause: Callable[[FailoverLab, str, int], None]  # on the path through that relay; the fault's number
    # Restores the lab; it is as before once all nodes know all cables. A cable that pulses have found silent is not used for a
    # while, twice as long each time. So that all faults find the same state, the relay of such a fault is restarted, which
    # makes the nodes forget that judgement. The flow is on the other path meanwhile.
    undo: Callable[[FailoverLab, str, int], None]
    goals: tuple[Goal, ...] = ()


def _side(number: int) -> str:
    """The end of the path whose cable is hit: the cables before and after the relay take turns, twice each, as relays take
    turns, too."""
    return SOURCE if number // 2 % 2 else DESTINATION


def _silence(one_way: bool) -> Callable[[FailoverLab, str, int], None]:
    """Silences the direction of the data only, or both directions."""
    def silence(lab: FailoverLab, relay: str, number: int) -> None:
        sender = SOURCE if _side(number) == SOURCE else relay
        lab.silence(lab.cable(relay, _side(number)), sender if one_way else None)
    return silence


def _mend_silence(lab: FailoverLab, relay: str, number: int) -> None:
    lab.mend_silence(lab.cable(relay, _side(number)))
    time.sleep(_AFTERMATH_S)
    lab.restart(relay)


def _continue(lab: FailoverLab, relay: str, _number: int) -> None:
    lab.signal(relay, signal.SIGCONT)
    time.sleep(_AFTERMATH_S)
    lab.restart(relay)


def _carrier(is_up: bool) -> Callable[[FailoverLab, str, int], None]:
    return lambda lab, relay, number: lab.set_carrier(lab.cable(relay, _side(number)), is_up)


KINDS = (
    FaultKind("carrier", "a cable of the path in use loses its carrier, before and after the relay in turn",
              _carrier(False), _carrier(True), (Goal(50, 10), Goal(99, 30))),
    FaultKind("killed relay", "the relay's cablewayd is killed by SIGKILL, and started again",
              lambda lab, relay, _: lab.signal(relay, signal.SIGKILL), lambda lab, relay, _: lab.restart(relay),
              (Goal(99, 30),)),
    FaultKind("stopped relay", "the relay's cablewayd is stopped by SIGSTOP, and continued: its kernel still acknowledges data",
              lambda lab, relay, _: lab.signal(relay, signal.SIGSTOP), _continue, (Goal(100, 1000),)),
    FaultKind("silent", "a cable of the path loses all packets in both directions and keeps its carriers",
              _silence(one_way=False), _mend_silence),
    FaultKind("silent one way", "a cable of the path loses all packets in the direction of the data",
              _silence(one_way=True), _mend_silence, (Goal(99, 60),)),
)
