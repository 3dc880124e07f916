#!/usr/bin/env python3
"""Builds the lab for the GPU test, runs its conductor there, prints the results and packs the logs. See README.md."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import lab_nodes
import matrix_plan
import results
import verdict

_HERE = Path(__file__).resolve().parent
_DEADLINE_S = {"quick": 235.0, "full": 535.0, "dry-run": 100.0}
_GPU_CHECK_S = 100.0
_TO_END_CONDUCTOR_S, _TO_REPORT_S = 8.0, 12.0
_LOG_LIMIT_BYTES = 15 << 20


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh",
                                     description="Real NCCL over the plugin, on a ring of four namespaces.")
    parser.add_argument("--bundle", default="build/gpu-bundle", help="what pack.sh made (default: %(default)s)")
    modes = parser.add_mutually_exclusive_group(required=True)
    modes.add_argument("--quick", dest="mode", action="store_const", const="quick", help="a first proof, 4 minutes")
    modes.add_argument("--full", dest="mode", action="store_const", const="full", help="everything, 9 minutes")
    modes.add_argument("--dry-run", dest="mode", action="store_const", const="dry-run",
                       help="without a GPU: collperf in place of NCCL")
    parser.add_argument("--configs", default="", metavar="A,B", help="only these of: " + ", ".join(matrix_plan.CONFIGS))
    parser.add_argument("--rate-mbps", type=int, default=2000,
                        help="of a cable in each direction (default: %(default)s)")
    parser.add_argument("--out", default=os.environ.get("OUT", "out/gpu"), help="folder for results (default: $OUT)")
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds in all, the end included")
    parser.add_argument("--stall", type=float, default=40.0, metavar="S",
                        help="seconds without progress that count as a hang (default: %(default)s)")
    parser.add_argument("--torch", choices=("cuda", "gloo"), default="cuda",
                        help="gloo: torch's own CPU transport, to try the ranks' program itself without a GPU")
    arguments = parser.parse_args()
    arguments.configs = [name for name in arguments.configs.split(",") if name]
    for name in arguments.configs:
        if name not in matrix_plan.CONFIGS:
            parser.error(f"--configs: no configuration '{name}'; there are {', '.join(matrix_plan.CONFIGS)}")
    bundle = Path(arguments.bundle).resolve()
    if (why := bundle_lacks(bundle)) is not None:
        parser.error(why)
    arguments.bundle = bundle
    return arguments


def bundle_lacks(bundle: Path) -> str | None:
    for needed in ("lib/libnccl-net-cableway.so", "bin/cablewayd", "bin/cableway", "tools/ip", "tools/tc"):
        if not (bundle / needed).exists():
            return f"--bundle {bundle}: {needed} is missing; make it with tests/gpu/pack.sh, and copy it here"
    return None


def check_gpu() -> str | None:
    """Why torch cannot use a GPU here; None when it can. Also brings torch's files into memory, for all ranks."""
    program = ("import torch; torch.zeros(1, device='cuda'); print('torch', torch.__version__, 'NCCL',"
               " torch.cuda.nccl.version(), torch.cuda.device_count(), 'x', torch.cuda.get_device_name(0))")
    try:
        done = subprocess.run([sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=_GPU_CHECK_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {_GPU_CHECK_S:.0f} s"
    if done.returncode != 0:
        return done.stderr.strip()[-800:]
    print(done.stdout.strip(), flush=True)
    return None


def congestion_sysctl() -> list[str]:
    """bbr paces against the shaping of a veth pair and gets less than its rate; both transports get reno instead."""
    now = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    return ["--sysctl", "net.ipv4.tcp_congestion_control=reno"] if now == "bbr" else []


def _run_conductor(arguments: argparse.Namespace, work: Path, began: float, deadline: float) -> None:
    cuda = arguments.torch == "cuda"
    job = {"work": str(work), "bundle": str(arguments.bundle), "mode": arguments.mode, "configs": arguments.configs,
           "rate_mbps": arguments.rate_mbps, "began": began, "backend": "nccl" if cuda else "gloo",
           "device": "cuda" if cuda else "cpu",
           "ranks": "collperf" if arguments.mode == "dry-run" and cuda else "torch",
           "stall_s": arguments.stall, "until": began + deadline - _TO_REPORT_S - _TO_END_CONDUCTOR_S}
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    spec = ["ring:4", "--rate", f"{arguments.rate_mbps}mbit", "--forwarding", *congestion_sysctl()]
    conductor = [sys.executable, str(_HERE / "conductor.py"), str(work / "job.json")]
    run_lab(spec, conductor, began + deadline - _TO_REPORT_S)


def run_lab(spec: list[str], conductor: list[str], until: float) -> bool:
    """Runs the conductor in a lab until it ends, or `until` (monotonic) comes. Returns whether it succeeded."""
    process = subprocess.Popen(lab_nodes.lab_command(spec, conductor), stdin=subprocess.DEVNULL)
    try:
        status = process.wait(timeout=max(1.0, until - time.monotonic()))
        if status != 0:
            print(f"the conductor ended with status {status}", flush=True)
        return status == 0
    except subprocess.TimeoutExpired:
        print("the conductor did not end in time and was stopped", flush=True)
        return False
    finally:
        # The lab's processes end with its supervisor, even if that is killed.
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
        if process.poll() is None:
            process.kill()


def pack_logs(work: Path, archive: Path) -> None:
    """All of the work folder, each file at most its last 2 MiB, the archive within _LOG_LIMIT_BYTES."""
    for path in work.rglob("*"):
        if path.is_file() and path.stat().st_size > 2 << 20:
            with open(path, "rb") as file:
                file.seek(-(2 << 20), os.SEEK_END)
                end = file.read()
            path.write_bytes(end)
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(work, "logs")
    if archive.stat().st_size > _LOG_LIMIT_BYTES:
        archive.unlink()
        print("the logs are too large for the archive; only rank 0's are kept", flush=True)
        with tarfile.open(archive, "w:gz") as tar:
            for path in work.rglob("rank0.*"):
                tar.add(path, f"logs/{path.relative_to(work)}")


def main() -> int:
    began = time.monotonic()
    arguments = _arguments()
    deadline = arguments.deadline or _DEADLINE_S[arguments.mode]
    out = Path(arguments.out).resolve()
    work = out / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if arguments.mode != "dry-run" and arguments.torch == "cuda":
        if (why := check_gpu()) is not None:
            print(f"run.sh: this machine has no GPU that PyTorch can use: {why}; --dry-run needs none", file=sys.stderr)
            return 3
        print(f"[{time.monotonic() - began:5.0f} s] the GPU is usable", flush=True)
    _run_conductor(arguments, work, began, deadline)
    document = results.gather(work, arguments.mode, arguments.rate_mbps)
    (out / "gpu-results.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    text = verdict.text(document)
    (out / "gpu-table.txt").write_text(text + "\n", encoding="utf-8")
    pack_logs(work, out / "gpu-logs.tar.gz")
    shutil.rmtree(work)
    print(text)
    print(f"{time.monotonic() - began:.0f} s in all; {out}: gpu-results.json gpu-table.txt gpu-logs.tar.gz", flush=True)
    return 0 if verdict.judge(document)[0] else 1


if __name__ == "__main__":
    sys.exit(main())
