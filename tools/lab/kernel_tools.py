"""Runs ip, tc and nft, found in PATH, on many commands at a time in the current network namespace."""

from __future__ import annotations

import re
import shutil
import subprocess

from lab_error import LabError, unavailable_error

_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "nft": "nftables"}
_TOOL_DEADLINE_S = 120


def find_tool(tool: str) -> str:
    """The tool's path. Raises LabError that names the package to install."""
    path = shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")
    if path is None:
        raise unavailable_error(f"'{tool}' is not in PATH: install the package {_PACKAGES[tool]}")
    return path


def has_tool(tool: str) -> bool:
    try:
        find_tool(tool)
    except LabError:
        return False
    return True


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=_TOOL_DEADLINE_S,
                              check=False)
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(command)}: no answer within {_TOOL_DEADLINE_S} s") from None


def _check(tool: str, lines: list[str], exit_status: int, errors: str) -> None:
    if exit_status == 0:
        return
    failed = re.search(r"Command failed -:(\d+)", errors)
    command = lines[int(failed[1]) - 1] if failed and 0 < int(failed[1]) <= len(lines) else "-batch"
    reason = errors.split("Command failed")[0].strip() or f"exit status {exit_status}"
    raise LabError(f"{tool} {command}: {reason}")


def batch(tool: str, lines: list[str]) -> None:
    """Runs `tool LINE` for each line, in order. Raises LabError with the line that failed and the kernel's reason."""
    if not lines:
        return
    done = _run([find_tool(tool), "-batch", "-"], "\n".join(lines) + "\n")
    _check(tool, lines, done.returncode, done.stderr)


class WaitingTool:
    """A tool that is already started in the network namespace of its caller and waits for one command, so that several of
    them can act in several namespaces at almost the same time."""

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._line = ""
        self._process = subprocess.Popen([find_tool(tool), "-batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True)

    def give(self, line: str) -> None:
        assert self._process.stdin is not None
        self._line = line
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # finish() reports the reason

    def finish(self) -> None:
        """Raises LabError as `batch` does."""
        try:
            _, errors = self._process.communicate(timeout=_TOOL_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise LabError(f"{self._tool} {self._line}: no answer within {_TOOL_DEADLINE_S} s") from None
        _check(self._tool, [self._line], self._process.returncode, errors)


def accepts(tool: str, line: str) -> bool:
    """Whether one command works: a probe for what the kernel can do."""
    return _run([find_tool(tool), *line.split()], "").returncode == 0


def nft(ruleset: str) -> None:
    """Applies the ruleset in one transaction."""
    done = _run([find_tool("nft"), "-f", "-"], ruleset)
    if done.returncode != 0:
        raise LabError(f"nft: {done.stderr.strip()}; the rules were:\n{ruleset}")
