"""The environment of a rank: the other ranks, NCCL and the transport under test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lab_nodes
from traffic_counters import MANAGEMENT_INTERFACE


def rank_settings(transport: str, rank: int, nodes: Sequence[str], port: int, folder: Path, bundle: Path,
                  preset: bool = False) -> dict[str, str]:
    """For rank `rank`, in node `nodes[rank]`; rank 0, in the lab's first node, serves the store on `port`. `preset`: the
    network comes from the plugin as NCCL's env plugin, as by a line in /etc/nccl.conf."""
    common = {
        "RANK": str(rank), "WORLD_SIZE": str(len(nodes)), "MASTER_ADDR": lab_nodes.FIRST_ADDRESS,
        "MASTER_PORT": str(port), "PYTHONUNBUFFERED": "1", "GLOO_SOCKET_IFNAME": MANAGEMENT_INTERFACE,
        "NCCL_HOSTID": nodes[rank], "NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_GIN_ENABLE": "0",
        "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,ENV,TUNING" if rank == 0 else "INIT,NET",
        "NCCL_DEBUG_FILE": str(folder / f"nccl{rank}.log"),
    }
    plugin = str(bundle / "lib" / "libnccl-net-cableway.so")
    if transport == "cableway" and preset:
        # The lab's nodes have no default route, by which the preset finds the management network.
        return common | {"NCCL_ENV_PLUGIN": plugin, "NCCL_SOCKET_IFNAME": f"={MANAGEMENT_INTERFACE}"}
    if transport == "cableway":
        # Without the reference count NCCL 2.28 unloads the plugin with a process's last communicator, and then does not
        # find it by name again.
        return common | {"NCCL_NET": "cableway", "NCCL_SOCKET_IFNAME": f"={MANAGEMENT_INTERFACE}",
                         "NCCL_NET_PLUGIN_REF_COUNT": "1",
                         "NCCL_NET_PLUGIN": plugin}
    # The Socket transport uses the interfaces that the bootstrap uses. The lab calls a cable's end to-<peer>, so only
    # cables match; the kernels' routes forward the rest.
    return common | {"NCCL_NET": "Socket", "NCCL_NET_PLUGIN": "none", "NCCL_SOCKET_IFNAME": "to-"}


def all_operations(sizes: Sequence[str], channels: str = "1") -> list[str]:
    """What collperf runs in place of the matrix."""
    return ["--workload", "all", "--sizes", ",".join(sizes), "--channels", channels, "--iters", "5"]


def collperf_command(bundle: Path, folder: Path, work: Sequence[str]) -> list[str]:
    """The replacement of a rank's program without a GPU: collperf with the same nodes and settings."""
    return [str(bundle / "bin" / "collperf"), "--plugin", str(bundle / "lib" / "libnccl-net-cableway.so"), *work,
            "--timeout", "20", "--verbose", "--json", str(folder / "collperf.json")]
