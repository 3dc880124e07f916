"""A package's next version, for tests of an upgrade."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path


def later_version(package: Path, work: Path) -> Path:
    """The same package with a higher version and another line in its sample settings. Those in /etc stay the same."""
    unpacked = work / "later"
    shutil.rmtree(unpacked, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", str(package), str(unpacked)], check=True, timeout=60)
    control = unpacked / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+later", control.read_text()))
    with (unpacked / "usr/share/doc/cableway/cableway.toml").open("a") as sample:
        sample.write("# later\n")
    built = work / "later.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(unpacked), str(built)], check=True, timeout=60,
                   capture_output=True)
    return built
