"""The verbs on a running lab that `lab` and `softroce` share, for nodes that are namespaces or guests."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from command_verbs import need_command
from lab_error import usage_error
from lab_state import LabState, changing_state, load_state
from node_commands import run_in_each
from running_lab import in_lab, write_env_file
from topology_spec import Cable


class CableControl(Protocol):
    """A module that cuts and mends this kind of lab's cables."""

    def cut(self, state: LabState, cable: Cable, silent: bool, one_way: str | None) -> None: ...

    def mend(self, state: LabState, cable: Cable) -> None: ...


class LabActions:
    """The verbs. Each maps its arguments to the exit status."""

    def __init__(self, run_in_node: Callable[[LabState, str, list[str]], int], cables: CableControl,
                 with_guests: bool = False) -> None:
        self._run_in_node = run_in_node
        self._cables = cables
        self._with_guests = with_guests

    def in_lab(self, arguments: argparse.Namespace, body: Callable[[], int]) -> int:
        return in_lab(arguments.lab, body, with_guests=self._with_guests)

    def exec(self, arguments: argparse.Namespace) -> int:
        command = need_command(arguments)

        def body() -> int:
            state = load_state()
            return self._run_in_node(state, state.check_node(arguments.node), command)

        return self.in_lab(arguments, body)

    def each(self, arguments: argparse.Namespace) -> int:
        command = need_command(arguments)

        def body() -> int:
            state = load_state()
            names = state.topology.node_names()
            if arguments.nodes:
                names = [state.check_node(name) for name in arguments.nodes.split(",")]
            return run_in_each(names, command, partial(self._run_in_node, state))

        return self.in_lab(arguments, body)

    def change(self, arguments: argparse.Namespace, change: Callable[[LabState], None]) -> int:
        def body() -> int:
            with changing_state() as state:
                change(state)
            return 0

        return self.in_lab(arguments, body)

    def cut(self, arguments: argparse.Namespace) -> int:
        def change(state: LabState) -> None:
            cable = state.cable(arguments.cable)
            if arguments.one_way is not None and arguments.one_way not in cable.nodes():
                raise usage_error(f"--one-way {arguments.one_way}: cable {cable.name} joins"
                                  f" {' and '.join(cable.nodes())}; name one")
            self._cables.cut(state, cable, arguments.silent, arguments.one_way)

        return self.change(arguments, change)

    def mend(self, arguments: argparse.Namespace) -> int:
        return self.change(arguments, lambda state: self._cables.mend(state, state.cable(arguments.cable)))


def command_environment() -> dict[str, str]:
    """The environment of the command that `run` starts: with these programs in PATH."""
    here = str(Path(__file__).resolve().parent)
    return dict(os.environ) | {"PATH": f"{here}:{os.environ.get('PATH', os.defpath)}"}


def env_file_writer(arguments: argparse.Namespace) -> Callable[[LabState], None]:
    """Returns a function to call once the lab is up: it writes --env-file, if given."""
    def on_built(state: LabState) -> None:
        if arguments.env_file:
            write_env_file(arguments.env_file, state)

    return on_built
