"""What docs/guide.md's files for Docker Compose and Kubernetes and its mpirun must have, and the files' facts for the
stand-in of docker."""

from __future__ import annotations

import shlex
from typing import Any

PLUGIN = "/usr/lib/cableway"
# Of each job, however it is started.
NEEDED_VARIABLES = ("NCCL_NET_PLUGIN", "NCCL_NET", "NCCL_NET_PLUGIN_REF_COUNT", "NCCL_SOCKET_IFNAME", "NCCL_MIN_NCHANNELS",
                    "GLOO_SOCKET_IFNAME")


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def expect_variables(where: str, names: list[str]) -> None:
    for variable in NEEDED_VARIABLES:
        expect(variable in names, f"{where}: no variable {variable}")


def check_mpirun(command: str) -> None:
    """Ranks on other hosts have the variables of -x only."""
    words = shlex.split(command.replace("\\\n", " "))
    names = [after.partition("=")[0] for word, after in zip(words, words[1:]) if word == "-x"]
    expect_variables("mpirun", names)
    expect("MASTER_ADDR" in names, "mpirun: nothing tells ranks on other hosts where rank 0 is")


def compose_facts(name: str, document: dict[str, Any]) -> str:
    """Checks a compose file of one service; returns a line for each fact."""
    expect(set(document) == {"services"} and len(document["services"]) == 1, f"{name}: expected one service")
    service, = document["services"].values()
    expect(service.get("network_mode") == "host", f"{name}: network_mode is not host")
    expect(service.get("ipc") == "host", f"{name}: ipc is not host")
    expect(service.get("ulimits", {}).get("memlock") == -1, f"{name}: memlock is limited")
    expect("IPC_LOCK" in service.get("cap_add", []), f"{name}: no IPC_LOCK")
    expect("c 231:* rwm" in service.get("device_cgroup_rules", []), f"{name}: no rule for verbs devices")
    volumes = service.get("volumes", [])
    for volume in (f"{PLUGIN}:{PLUGIN}:ro", "/run/cableway:/run/cableway", "/dev/infiniband:/dev/infiniband"):
        expect(volume in volumes, f"{name}: no volume {volume}")
    devices = service["deploy"]["resources"]["reservations"]["devices"]
    expect(devices == [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}], f"{name}: no GPU")
    variables = service.get("environment", [])
    names = [variable.partition("=")[0] for variable in variables]
    expect_variables(name, names)
    lines = ["network host", f"memlock {service['ulimits']['memlock']}"]
    lines += ["mount " + volume.replace(":", " ") for volume in volumes if volume.startswith("/")]
    lines += [f"env {variable}" for variable in variables]
    if "command" in service:
        lines.append("command " + " ".join(service["command"].split()))
    return "\n".join(lines) + "\n"


def check_pod(name: str, pod: dict[str, Any]) -> None:
    expect((pod["apiVersion"], pod["kind"]) == ("v1", "Pod"), f"{name}: not a pod")
    spec = pod["spec"]
    expect(spec.get("hostNetwork") is True, f"{name}: hostNetwork is not true")
    expect(spec.get("dnsPolicy") == "ClusterFirstWithHostNet", f"{name}: names of the cluster are not found with hostNetwork")
    container, = spec["containers"]
    expect("IPC_LOCK" in container["securityContext"]["capabilities"]["add"], f"{name}: no IPC_LOCK")
    expect("nvidia.com/gpu" in container["resources"]["limits"], f"{name}: no GPU")
    expect(any(each.startswith("rdma/") for each in container["resources"]["limits"]), f"{name}: no RDMA device")
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    expect(paths.get(mounts[PLUGIN]["name"]) == PLUGIN and mounts[PLUGIN].get("readOnly") is True,
           f"{name}: the plugin is not mounted read-only")
    expect(paths.get(mounts["/run/cableway"]["name"]) == "/run/cableway", f"{name}: no socket of the node")
    names = [variable["name"] for variable in container["env"]]
    expect_variables(name, names)
