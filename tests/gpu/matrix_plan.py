"""What the GPU test runs: configurations of NCCL, operations and sizes, and which of them run in which mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from test_pattern import FLOAT32, INT32, OPERATIONS

KIB, MIB = 1 << 10, 1 << 20
RATIO_SIZE = 64 * MIB  # where both transports are compared
RATIO_GOAL = 0.97
TRANSPORTS = ("cableway", "socket")
NO_WARM_UP_FROM = 128 * MIB
PROPORTIONAL_FROM = MIB  # from here on, time grows with size


@dataclass(frozen=True)
class Config:
    """NCCL's variables, for one communicator. NCCL's syntax can limit an algorithm to a function."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    kind: str = INT32
    operations: tuple[str, ...] = OPERATIONS
    judged: bool = True  # whether its busbw has to reach the goal


CONFIGS = {config.name: config for config in (
    Config("default", {}, FLOAT32),
    Config("tree", {"NCCL_ALGO": "allreduce:tree"}),  # the other operations have no tree: NCCL would refuse them
    Config("ring", {"NCCL_ALGO": "ring"}),
    # Over Socket a pat all_gather also uses the long path around the ring, since NCCL gives each channel its own interface;
    # Cableway's flows take shortest paths only. Reported, not judged.
    Config("pat", {"NCCL_ALGO": "allgather:pat;reducescatter:pat"}, operations=("all_gather", "reduce_scatter"),
           judged=False),
    Config("ll", {"NCCL_PROTO": "LL"}),
    Config("ll128", {"NCCL_PROTO": "LL128"}),
    Config("simple", {"NCCL_PROTO": "Simple"}),
    Config("tree-ll", {"NCCL_ALGO": "allreduce:tree", "NCCL_PROTO": "LL"}, operations=("all_reduce",)),
    Config("tree-ll128", {"NCCL_ALGO": "allreduce:tree", "NCCL_PROTO": "LL128"}, operations=("all_reduce",)),
    Config("tree-simple", {"NCCL_ALGO": "allreduce:tree", "NCCL_PROTO": "Simple"}, operations=("all_reduce",)),
)}
CHOSEN_VARIABLES = ("NCCL_ALGO", "NCCL_PROTO")


@dataclass(frozen=True)
class Effort:
    """Which sizes, and how long for each: as many iterations as fit the budget, within bounds that also limit memory."""

    sizes: tuple[int, ...]
    small_budget_s: float
    large_budget_s: float

    def cell(self, operation: str, size: int) -> dict[str, Any]:
        if size <= MIB:
            least, most, budget = 3, 100, self.small_budget_s
        elif size < RATIO_SIZE:
            least, most, budget = 2, 10, self.large_budget_s / 4
        elif size == RATIO_SIZE:
            least, most, budget = 2, 6, self.large_budget_s
        else:
            least, most, budget = 1, 2, self.large_budget_s
        return {"op": operation, "size": size, "least": least, "most": most, "budget_s": budget}


EVERY_SIZE = (8, KIB, 16 * KIB, 128 * KIB, MIB, 8 * MIB, 64 * MIB, 256 * MIB)
_QUICK_FIRST = Effort((8, 64 * KIB, MIB, 64 * MIB), 0.2, 1.0)
_QUICK_OTHERS = Effort((8, 16 * KIB, MIB, 16 * MIB), 0.1, 0.5)
_FULL_CABLEWAY = Effort(EVERY_SIZE, 0.25, 1.5)
_FULL_SOCKET_FIRST = Effort((8, 128 * KIB, MIB, 64 * MIB, 256 * MIB), 0.25, 1.5)
_FULL_SOCKET_OTHERS = Effort((8, MIB, 64 * MIB), 0.1, 1.0)
_DRY = Effort((8, 64 * KIB, MIB), 0.05, 0.2)


@dataclass(frozen=True)
class Pass:
    """One set of rank processes: a transport and the configurations that they go through."""

    transport: str
    configs: tuple[str, ...]
    effort: Effort
    plugin_starts_nodes: bool = False  # else the harness runs a cablewayd in each node, with a log


QUICK_CONFIGS = ("default", "tree", "ring", "ll", "ll128", "simple")
FULL_CONFIGS = ("default", "tree", "ring", "ll", "ll128", "simple", "pat", "tree-ll", "tree-ll128", "tree-simple")


def passes(mode: str, configs: tuple[str, ...] | None = None) -> list[Pass]:
    """What to run, in order; `configs` limits it, so that a matrix can be spread over several calls."""
    wanted = configs or (QUICK_CONFIGS if mode == "quick" else FULL_CONFIGS)
    first, others = tuple(name for name in wanted if name == "default"), tuple(n for n in wanted if n != "default")
    if mode == "dry-run":
        plan = [Pass("cableway", wanted, _DRY), Pass("socket", wanted, _DRY),
                Pass("cableway", wanted, _DRY, plugin_starts_nodes=True)]
    elif mode == "quick":
        plan = [Pass("cableway", first, _QUICK_FIRST), Pass("socket", first, _QUICK_FIRST),
                Pass("cableway", others, _QUICK_OTHERS, plugin_starts_nodes=True)]
    else:
        plan = [Pass("cableway", first, _FULL_CABLEWAY), Pass("socket", first, _FULL_SOCKET_FIRST),
                Pass("cableway", others, _FULL_CABLEWAY, plugin_starts_nodes=True),
                Pass("socket", others, _FULL_SOCKET_OTHERS)]
    return [entry for entry in plan if entry.configs]


def rank_plan(entry: Pass, names: list[str], backend: str, device: str, stop_at: float) -> dict[str, Any]:
    """The document that nccl_matrix.py reads."""
    configs = []
    for name in names:
        config = CONFIGS[name]
        operations = [op for op in config.operations
                      if backend == "nccl" or op not in ("all_gather", "reduce_scatter")]  # gloo lacks them
        cells = [entry.effort.cell(op, size) for op in operations for size in entry.effort.sizes]
        if cells:
            configs.append({"name": name, "env": config.settings, "kind": config.kind, "cells": cells})
    return {"transport": entry.transport, "backend": backend, "device": device, "stop_at": stop_at,
            "chosen_variables": CHOSEN_VARIABLES, "no_warm_up_from": NO_WARM_UP_FROM,
            "proportional_from": PROPORTIONAL_FROM, "configs": configs}
