"""What the scenarios run: rings, orders of ranks, programs and their plans. README.md describes each scenario."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from matrix_plan import CHOSEN_VARIABLES, KIB, MIB, RATIO_SIZE
from test_pattern import ALL_OPERATIONS, INT32

RATE_MBPS = 2000
SIZES = (8, 100_004, 4 * MIB)  # the middle one ends in the middle of a line of 128 bytes
ORDER_SIZE = 16 * MIB  # where orders of ranks are compared
ABORT_BOUND_S = 10.0
_DDP_STEPS = 200
_DDP_RATE_MBPS = 4000
_FAILOVER_STEPS = 500
_NOT_GLOO = ("all_gather", "reduce_scatter", "reduce")  # it lacks two; its reduce overwrites non-root buffers
_OF_PAIRS = ("all_to_all", "opposite")
_ORDERS = {4: (0, 2, 1, 3), 8: (0, 4, 1, 5, 2, 6, 3, 7)}
_KILLED = 3
_ABSENT = 2


@dataclass(frozen=True)
class FaultPlan:
    """What happens to nodes and cables while a job's ranks work, once their data passes a relay."""

    period_s: float
    kills: int  # of the relay that moves most, by SIGKILL; it is started again
    cuts: bool = False  # a cable's carrier at the beginning of each period, each cable in turn
    cut_s: float = 2.0


@dataclass(frozen=True)
class RankJob:
    """One set of ranks: rank r runs `program` with the plan in node `order[r]`."""

    name: str
    program: str
    order: tuple[int, ...]
    plan: dict[str, Any]
    transport: str = "cableway"
    settings: dict[str, str] = field(default_factory=dict)
    exits: dict[int, int] = field(default_factory=dict)
    preset: bool = False  # the network's variables come from the plugin itself, as NCCL's env plugin
    advised: bool = False  # with what `cableway env` prints for NCCL
    reference: bool = False  # runs only after a failure, to find out whether the transport causes it; not judged
    faults: FaultPlan | None = None
    collperf: tuple[str, ...] = ()  # what stands for a program other than nccl_matrix.py in a dry run

    def nodes(self) -> list[str]:
        return [f"n{index}" for index in self.order]

    def runs_dry(self) -> bool:
        """Whether collperf can stand for its program: it uses Cableway only."""
        return self.transport == "cableway" and (self.program == "nccl_matrix.py" or bool(self.collperf))


@dataclass(frozen=True)
class Scenario:
    """Stages run one after another, the jobs of a stage at the same time, all in one lab with its nodes."""

    name: str
    nodes: int
    stages: tuple[tuple[RankJob, ...], ...]
    deadline_s: float  # of the whole scenario, from the lab's start
    expected_s: float  # on one H200 with 16 cores
    rate_mbps: int = RATE_MBPS
    watch_flows: bool = False  # count the circuits through nodes while it runs, too
    split_ports: bool = False  # two interfaces at both ends of each cable, as on a DGX Spark

    def lab_spec(self, rate_mbps: int) -> list[str]:
        if self.split_ports:  # either would otherwise answer ARP for the other's address
            own = [word for name in ("arp_ignore=1", "arp_announce=2")
                   for word in ("--sysctl", f"net.ipv4.conf.all.{name}")]
            return [f"twins:{self.nodes}", "--rate", f"{rate_mbps}mbit", *own]
        return [f"ring:{self.nodes}", "--rate", f"{rate_mbps}mbit", "--forwarding"]


@dataclass(frozen=True)
class _Forced:
    """A configuration whose choice is checked against NCCL's log."""

    name: str
    settings: dict[str, str]
    operations: tuple[str, ...] = ALL_OPERATIONS


_PAT = _Forced("pat", {"NCCL_ALGO": "allgather:pat;reducescatter:pat"}, ("all_gather", "reduce_scatter"))


def _forced_configs() -> list[_Forced]:
    """Ring and tree with each protocol, and PAT. Trees are all_reduce's only, and PAT has Simple only."""
    configs = []
    for protocol in ("LL", "LL128", "Simple"):
        settings = {"NCCL_PROTO": protocol}
        configs.append(_Forced(f"ring-{protocol.lower()}", {"NCCL_ALGO": "ring"} | settings))
        configs.append(_Forced(f"tree-{protocol.lower()}", {"NCCL_ALGO": "allreduce:tree"} | settings,
                               ("all_reduce",)))
    return [*configs, _PAT]


def forced_choice(config: str) -> str | None:
    """What NCCL's log must show for a configuration: the beginning of its `chosen`."""
    if config == "pat":
        return "PAT/SIMPLE/"
    algorithm, dash, protocol = config.partition("-")
    return f"{algorithm}/{protocol}/".upper() if dash and algorithm in ("ring", "tree") else None


def _matrix(configs: list[_Forced], cells: list[tuple[int, int, int, float]]) -> dict[str, Any]:
    """A plan for nccl_matrix.py. A cell is (size, minimum iterations, maximum iterations, budget in seconds); if both are
    equal, that many run without a warm-up."""
    return {
        "chosen_variables": CHOSEN_VARIABLES, "no_warm_up_from": 128 * MIB, "proportional_from": MIB,
        "configs": [{"name": config.name, "env": config.settings, "kind": INT32, "cells": [
            {"op": operation, "size": size, "least": least, "most": most, "budget_s": budget}
            for operation in config.operations for size, least, most, budget in cells]} for config in configs],
    }


def _checked_ring(nodes: int, deadline_s: float, expected_s: float) -> Scenario:
    plan = _matrix(_forced_configs(), [(size, 2, 2, 0.0) for size in SIZES])
    job = RankJob("cable-order", "nccl_matrix.py", tuple(range(nodes)), plan)
    return Scenario(f"ring{nodes}", nodes, ((job,),), deadline_s, expected_s)


def _orders(name: str, nodes: int, deadline_s: float, expected_s: float) -> Scenario:
    cells = [(8, 3, 20, 0.1), (100_004, 3, 20, 0.1), (MIB, 2, 10, 0.2), (ORDER_SIZE, 2, 6, 0.5)]
    plan = _matrix([_Forced("default", {})], cells)
    # With all paths neighbours would gain, and flows that pass a relay in any case would not.
    one_path = {"CABLEWAY_MULTIPATH": "off"}
    stages = tuple((RankJob(job, "nccl_matrix.py", order, plan, settings=one_path),)
                   for job, order in (("cable-order", tuple(range(nodes))), ("against", _ORDERS[nodes])))
    return Scenario(name, nodes, stages, deadline_s, expected_s)


def _two() -> Scenario:
    order = (0, 1, 2, 3)
    rows = [{"op": operation, "size": size, "rows": 3} for operation in ALL_OPERATIONS for size in SIZES]
    groups = RankJob("groups", "two_groups.py", order, {"cells": rows},
                     # Streams that share a hardware queue wait for each other, and so could two communicators, in
                     # different orders on different ranks.
                     settings={"CUDA_DEVICE_MAX_CONNECTIONS": "32"})
    plan = _matrix([_Forced("default", {})], [(size, 4, 4, 0.0) for size in (*SIZES, 16 * MIB)])
    jobs = tuple(RankJob(name, "nccl_matrix.py", order, plan) for name in ("first-job", "second-job"))
    return Scenario("two", 4, ((groups,), jobs), 90, 45)


def _abort() -> Scenario:
    """Against cable order, so that flows pass relays and `cableway flows` has entries that must disappear."""
    order = _ORDERS[4]
    abort = RankJob("abort", "nccl_abort.py", order,
                    {"bound_s": ABORT_BOUND_S, "size": 64 * MIB, "part": "abort", "absent": _ABSENT})
    # At least 1.6 s on the cables.
    kill = RankJob("kill", "nccl_abort.py", order,
                   {"bound_s": ABORT_BOUND_S, "size": 256 * MIB, "part": "kill", "killed": _KILLED},
                   exits={_KILLED: -9})
    plan = _matrix([_Forced("default", {})], [(size, 4, 4, 0.0) for size in (64 * KIB, 16 * MIB)])
    after = RankJob("new-job", "nccl_matrix.py", order, plan)
    references = tuple((replace(job, name=f"{job.name}-socket", transport="socket", reference=True),)
                       for job in (abort, kill))
    return Scenario("abort", 4, ((abort,), (kill,), (after,), *references), 120, 50, watch_flows=True)


def _training(name: str, order: tuple[int, ...], transport: str, layers: int, steps: int) -> RankJob:
    # Additions follow the ring's order; the rank that begins with an element depends on channels and threads.
    pinned = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2",
              "NCCL_NTHREADS": "256", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    plan = {"steps": steps, "seed": 1, "layers": layers, "width": 256, "heads": 8, "sequence": 256,
            "batch": 2, "vocabulary": 256, "learning_rate": 1e-3}  # the batch is a rank's: 8 in all
    return RankJob(name, "ddp_gpt.py", order, plan, transport, pinned)


def _ddp() -> Scenario:
    stages = tuple((_training(transport, (0, 1, 2, 3), transport, 6, _DDP_STEPS),)
                   for transport in ("cableway", "socket"))
    return Scenario("ddp", 4, stages, 150, 100, rate_mbps=_DDP_RATE_MBPS)


def _failover() -> Scenario:
    """Opposite pairs of ranks in cable order, and a ring of ranks against it: both pass relays."""
    two_kills = FaultPlan(period_s=6, kills=2)

    def rounds(name: str, order: tuple[int, ...], operations: tuple[str, ...], collperf: tuple[str, ...]) -> RankJob:
        plan = _matrix([_Forced("default", {}, operations)], [(MIB, 32, 32, 0.0)])
        return RankJob(name, "checked_rounds.py", order, plan, faults=two_kills, collperf=_checked(*collperf))

    undisturbed = _training("undisturbed", _ORDERS[4], "cableway", 4, _FAILOVER_STEPS)
    disturbed = replace(undisturbed, name="disturbed", collperf=_checked("--workload", "all_reduce"),
                        faults=FaultPlan(period_s=5, kills=2, cuts=True))
    jobs = (rounds("opposite", (0, 1, 2, 3), ("opposite", "all_reduce"), ("--workload", "sendrecv,opposite")),
            rounds("against", _ORDERS[4], ("all_reduce",), ("--workload", "all_reduce")), disturbed, undisturbed)
    return Scenario("failover", 4, tuple((job,) for job in jobs), 440, 260)


def _checked(*work: str) -> tuple[str, ...]:
    """The work as collperf does it in a dry run: long enough for two faults, on a few processors."""
    return (*work, "--sizes", "1M", "--channels", "1", "--iters", "1", "--check-all", "--seconds", "35", "--idle-us", "100")


def _twins() -> Scenario:
    """Both functions of a split port must carry equal parts of what goes around the ring, and between opposite nodes."""
    cells = [(size, 4, 4, 0.0) for size in (*SIZES, ORDER_SIZE)]
    around = tuple(operation for operation in ALL_OPERATIONS if operation not in _OF_PAIRS)
    stages = tuple((RankJob(name, "nccl_matrix.py", (0, 1, 2, 3), _matrix([_Forced(name, settings, operations)], cells),
                            advised=True),)
                   for name, settings, operations in (("around", {"NCCL_ALGO": "ring"}, around), ("pairs", {}, _OF_PAIRS)))
    return Scenario("twins", 4, stages, 90, 35, rate_mbps=RATE_MBPS // 2, split_ports=True)


def _multipath() -> Scenario:
    """The same operations by Cableway with one path a flow, by Cableway with all paths, and by NCCL's Socket."""
    # The first operation is a collective: NCCL's communicator is created with it, by all ranks.
    default = _Forced("default", {}, ("all_reduce", "all_gather", "all_to_all", "opposite_pair", "opposite", "neighbour"))
    plan = _matrix([default], [(MIB, 2, 10, 0.2), (RATIO_SIZE, 4, 8, 2.5)])
    # First for so long that flows which share a cable while an equal path has room have moved there.
    plan["configs"] += _matrix([_PAT], [(RATIO_SIZE // 4, 4, 240, 16.0), (RATIO_SIZE, 4, 12, 3.0)])["configs"]
    dry = ("--workload", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "sendrecv,0-2", "sendrecv,opposite",
           "sendrecv,neighbour", "--sizes", "4M", "--iters", "8")
    # As many as NCCL opens by itself over Socket, which has a device for each cable. Over one device it opens two.
    channels = {"NCCL_MIN_NCHANNELS": "4"}
    jobs = [RankJob(f"multipath-{value}", "nccl_matrix.py", (0, 1, 2, 3), plan,
                    settings=channels | {"CABLEWAY_MULTIPATH": value}, collperf=dry) for value in ("off", "all")]
    jobs.append(RankJob("socket", "nccl_matrix.py", (0, 1, 2, 3), plan, "socket", settings=channels))
    return Scenario("multipath", 4, tuple((job,) for job in jobs), 380, 210)


def _tuner() -> Scenario:
    """An all_reduce with every algorithm and protocol, then as the tuner chooses and as NCCL does without it."""
    sizes = (8, KIB, 16 * KIB, 48 * KIB, 256 * KIB, MIB, 16 * MIB)
    cells = [(size, 5, 60, 0.25) for size in sizes]
    operation = ("all_reduce",)
    forced = _matrix([replace(each, operations=operation) for each in _forced_configs() if each.name != "pat"], cells)
    default = _matrix([_Forced("default", {}, operation)], cells)
    dry = ("--workload", "all_reduce,ring", "all_reduce,tree", "--sizes", ",".join(map(str, sizes[:-1])), "--iters", "5")
    # The same network and channels for all; the preset's own, so that nothing else decides.
    jobs = (RankJob("forced", "nccl_matrix.py", (0, 1, 2, 3), forced, preset=True, collperf=dry),
            RankJob("tuned", "nccl_matrix.py", (0, 1, 2, 3), default, preset=True, collperf=dry),
            RankJob("untuned", "nccl_matrix.py", (0, 1, 2, 3), default, preset=True, settings={"CABLEWAY_TUNER": "off"},
                    collperf=dry))
    return Scenario("tuner", 4, tuple((job,) for job in jobs), 200, 120)


# In the order in which they run: the most informative first, in case the time is short.
SCENARIOS = {scenario.name: scenario for scenario in (
    _checked_ring(6, 100, 60), _abort(), _two(), _checked_ring(8, 120, 80), _orders("against", 4, 80, 45), _twins(),
    _ddp(), _orders("against8", 8, 100, 60), _failover(), _multipath(), _tuner(),
)}
DEFAULT = tuple(name for name in SCENARIOS if name not in ("against8", "failover", "multipath", "tuner"))


def stage_plan(job: RankJob, backend: str, device: str, stop_at: float) -> dict[str, Any]:
    """The document that the job's program reads."""
    plan = job.plan | {"transport": job.transport, "backend": backend, "device": device, "stop_at": stop_at}
    return plan if backend == "nccl" else _on_gloo(plan)


def _on_gloo(plan: dict[str, Any]) -> dict[str, Any]:
    """Reduces the plan to what a few processors and gloo, which has no algorithms, can run: a test of the programs."""
    def possible(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [cell for cell in cells if cell["op"] not in _NOT_GLOO and cell["size"] <= MIB]

    if "configs" in plan:
        plan["configs"] = [config | {"cells": possible(config["cells"])} for config in plan["configs"]
                           if possible(config["cells"])]
    if "cells" in plan:
        plan["cells"] = possible(plan["cells"])
    if "layers" in plan:
        plan |= {"layers": 1, "width": 32, "sequence": 64, "steps": 40}
    return plan


def planned_cells(job: RankJob) -> int:
    """How many cells a job of nccl_matrix.py has; 0 for the other programs."""
    return sum(len(config["cells"]) for config in job.plan.get("configs", []))


def job_named(scenario: str, name: str) -> RankJob:
    return next(job for stage in SCENARIOS[scenario].stages for job in stage if job.name == name)
