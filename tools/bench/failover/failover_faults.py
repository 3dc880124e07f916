"""The kinds of fault that failover is measured for. Each ends the path through one relay and leaves the other one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass

from failover_lab import DESTINATION, SOURCE, FailoverLab


@dataclass(frozen=True)
class FaultKind:
    name: str
    meaning: str
    cause: Callable[[FailoverLab, str, int], None]  # on the path through that relay; the fault's number
    undo: Callable[[FailoverLab, str, int], None]
    # A cable that pulses have found silent is not used for a while, twice as long each time. So that all faults find the
    # same, each gets fresh nodes, and a fresh flow.
    fresh_nodes: bool = False


def _side(number: int) -> str:
    """Which cable of the path: before and after the relay in turn."""
    return SOURCE if number % 2 else DESTINATION


def _silence(one_way: bool) -> Callable[[FailoverLab, str, int], None]:
    """In the data's direction only, or in both."""
    def silence(lab: FailoverLab, relay: str, number: int) -> None:
        sender = SOURCE if _side(number) == SOURCE else relay
        lab.silence(lab.cable(relay, _side(number)), sender if one_way else None)
    return silence


def _mend_silence(lab: FailoverLab, relay: str, number: int) -> None:
    lab.mend_silence(lab.cable(relay, _side(number)))


def _carrier(is_up: bool) -> Callable[[FailoverLab, str, int], None]:
    return lambda lab, relay, number: lab.set_carrier(lab.cable(relay, _side(number)), is_up)


KINDS = (
    FaultKind("carrier", "a cable of the path in use loses its carrier, before and after the relay in turn",
              _carrier(False), _carrier(True)),
    FaultKind("killed relay", "the relay's cablewayd is killed by SIGKILL, and started again",
              lambda lab, relay, _: lab.signal(relay, signal.SIGKILL), lambda lab, relay, _: lab.restart(relay)),
    FaultKind("stopped relay", "the relay's cablewayd is stopped by SIGSTOP, and continued: its kernel still acknowledges data",
              lambda lab, relay, _: lab.signal(relay, signal.SIGSTOP),
              lambda lab, relay, _: lab.signal(relay, signal.SIGCONT), fresh_nodes=True),
    FaultKind("silent", "a cable of the path loses all packets in both directions and keeps its carriers",
              _silence(one_way=False), _mend_silence, fresh_nodes=True),
    FaultKind("silent one way", "a cable of the path loses all packets in the direction of the data",
              _silence(one_way=True), _mend_silence, fresh_nodes=True),
)
