"""A process in a node, started directly by this process. `lab exec` starts an interpreter first, which takes longer than a
relay needs to be back."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Mapping

from lab_processes import LabProcess
from release_build import ROOT

sys.path.insert(0, str(ROOT / "tools/lab"))

from lab_state import LabState, load_state  # noqa: E402  (the lab's own modules)
from namespaces import become_node  # noqa: E402


@functools.cache
def lab_state() -> LabState:
    """The state of the lab that this process is in."""
    return load_state()


class NodeProcess(LabProcess):
    def _started(self, node: str, command: list[str], environment: Mapping[str, str],
                 pass_fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
        state = lab_state()
        # Between fork() and exec(); this process has one thread.
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
                                pass_fds=pass_fds, env=os.environ | state.node_environment(node) | dict(environment),
                                preexec_fn=lambda: become_node(node, state.own_sysfs))
