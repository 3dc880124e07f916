"""What the commands `lab` and `softroce` share: a verb each, options, and -- COMMAND at the end."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable

import supervisor
from lab_error import LabError, program, usage_error

Do = Callable[[argparse.Namespace], int]


class VerbParser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise usage_error(f"{message}; see {self.prog} --help")


def add_lab_verb(verbs: argparse._SubParsersAction, name: str, do: Do, summary: str, usage: str,
                 description: str = "") -> argparse.ArgumentParser:
    """A verb that works on a lab that is up: the one this process is in, or --lab."""
    parser = verbs.add_parser(name, help=summary, usage=f"{program()} {name} {usage}", description=description or None)
    parser.add_argument("--lab", metavar="NAME", help="which lab (default: $LAB)")
    parser.set_defaults(do=do)
    return parser


def need_command(arguments: argparse.Namespace) -> list[str]:
    if not arguments.command_words:
        raise usage_error(f"{program()} {arguments.verb}: expected -- COMMAND at the end")
    return arguments.command_words


def run_verb(parser: VerbParser, words: list[str]) -> int:
    """Parses the command line and runs its verb; returns the exit status."""
    split = words.index("--") if "--" in words else len(words)
    try:
        arguments = parser.parse_args(words[:split])
        arguments.command_words = words[split + 1:]
        return arguments.do(arguments)
    except LabError as error:
        return supervisor.report(error)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
