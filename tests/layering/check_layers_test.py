#!/usr/bin/env python3
"""Plants one fault at a time in a small tree and expects check_layers.py, or CMake, to reject it; then every include
that this tree's own tables forbid.

    check_layers_test.py ROOT
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import check_layers

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(".").resolve()
CHECK = pathlib.Path(__file__).with_name("check_layers.py")

# (planted fault, file, its text, expected report)
PLANTED = [
    ("a forbidden include", "routing/bad.cc", '#include "core/node.h"\n', "layer routing may not use layer core "),
    ("the same in angle brackets", "routing/bad.cc", "#include <core/node.h>\n", "layer routing may not use layer core "),
    ("sim over core/linux", "sim/bad.h", '#include "core/linux/socket.h"\n', "layer sim may not use layer core/linux"),
    ("core over core/linux", "core/bad.cc", '#  include "core/linux/socket.h"\n', "layer core may not use layer core/linux"),
    ("a room over a higher one", "core/flow/bad.cc", '#include "core/relay/relay.h"\n',
     "folder core/flow may not use folder core/relay (core/relay/relay.h)"),
    ("the layer's root over a room", "core/bad.cc", '#include "core/flow/flow.h"\n', "folder core may not use folder core/flow"),
    ("a folder without a line", "core/attic/bad.cc", "", "folder core/attic has no cableway_room_uses() line"),
    ("a layer over tools", "core/linux/bad.cc", '#include "tools/cableway/main.h"\n', "may not use layer tools"),
    ("a layer over the tests", "core/bad.cc", '#include "tests/core/fake.h"\n', "may not use tests"),
    ("sockets in routing", "routing/bad.cc", "#include <sys/socket.h>\n", "layer routing may not include <sys/socket.h>"),
    ("a mutex in routing", "routing/bad.cc", "#include <mutex>\n", "may not include <mutex>"),
    ("logging in routing", "routing/bad.cc", "#include <spdlog/spdlog.h>\n", "no logging"),
    ("iostream in routing", "routing/bad.cc", "#include <iostream>\n", "no logging"),
    ("a clock in routing", "routing/bad.cc", "auto t = std::chrono::steady_clock::now();\n", "routing reads no clock"),
    ("randomness in routing", "routing/bad.cc", "#include <random>\n", "no randomness"),
    ("Asio in core", "core/bad.cc", "#include <boost/asio.hpp>\n", "only core/linux touches the kernel"),
    ("unistd in core", "core/bad.cc", "#include <unistd.h>\n", "only core/linux touches the kernel"),
    ("netlink in core", "core/bad.cc", "#include <netlink/route/link.h>\n", "only core/linux touches the kernel"),
    ("a thread in core", "core/bad.cc", "std::thread worker;\n", "threads are created in core/linux"),
    ("a hash map in core", "core/bad.cc", '#include "absl/container/flat_hash_map.h"\n', "its order differs"),
    ("a clock in sim", "sim/bad.cc", "absl::Time t = absl::Now();\n", "time is virtual"),
    ("Boost.Graph in tools", "tools/bad.cc", "#include <boost/graph/adjacency_list.hpp>\n", "Boost.Graph lives in routing"),
    ("flags in the plugin", "nccl_adapter/bad.cc", '#include "absl/flags/flag.h"\n', "flags in a library"),
    ("a way around a layer", "sim/bad.cc", '#include "core/../core/linux/socket.h"\n', "'..' in an include"),
    ("a source of another suffix", "core/bad.hpp", "", "suffix .hpp"),
    ("a test outside its folder", "tests/core/flow_test.cc", "", "move it to tests/core/flow"),
    ("an include from the own folder", "core/bad.cc", '#include "node.h"\n', 'write "core/node.h"'),
    ("an empty file name", "core/string_util.cc", "", "'util' in a name"),
    ("an empty folder name", "tests/core/common/x.cc", "", "'common' in a name"),
    ("a manager", "tests/core/session-manager.h", "", "'manager' in a name"),
    ("a long file", "tests/core/long.cc", "\n" * 521, "521 lines"),
    ("a path of this machine", "docs/x.md", "see ../sh" "ared/x.md\n", "developer's machine"),
]

# Must not be reported: looks like a fault, but is allowed.
INNOCENT = {
    "routing/fine.cc": '#include "routing/topology.h"\n#include <boost/graph/adjacency_list.hpp>\n// steady_clock\n',
    "core/fine.cc": '#include "routing/topology.h"\n#include "core/node.h"\n#include <mutex>\n',
    "core/relay/fine.cc": '#include "core/flow/flow.h"\n#include "core/node.h"\n',
    "core/linux/fine.cc": '#include "core/node.h"\n#include <sys/socket.h>\n#include <thread>\n',
    "nccl_adapter/fine.cc": '#include "core/linux/socket.h"\n',
    "tools/cableway/fine.cc": '#include "nccl_adapter/net.h"\n#include <iostream>\n',
    "core/utility_of_path.cc": "",
    "build/release/common.h": "",
    "tests/core/flow/flow_test.cc": "",
    "tests/system/relay_test.cc": "",
}

LAYERS = """
function(cableway_layer_uses layer)
endfunction()
cableway_layer_uses(routing)
cableway_layer_uses(core routing)
cableway_layer_uses(core/linux routing core)
cableway_layer_uses(nccl_adapter routing core core/linux)
cableway_layer_uses(sim routing core)
cableway_layer_uses(tools routing core core/linux nccl_adapter sim)
"""
ROOMS = """
cableway_room_uses(routing)
cableway_room_uses(core)
cableway_room_uses(core/flow)
cableway_room_uses(core/relay core core/flow)
cableway_room_uses(core/linux)
cableway_room_uses(nccl_adapter)
cableway_room_uses(sim)
cableway_room_uses(tools)
cableway_room_uses(tools/cableway)
"""


def make_tree(folder, tables=LAYERS + ROOMS):
    plant(folder, "cmake/layers.cmake", tables)
    for path in (
        "routing/topology.h",
        "core/node.h",
        "core/flow/flow.h",
        "core/relay/relay.h",
        "core/linux/socket.h",
        "nccl_adapter/net.h",
        "sim/world.h",
        "tools/cableway/main.h",
        "tests/core/fake.h",
    ):
        plant(folder, path, "")
    for path, text in INNOCENT.items():
        plant(folder, path, text)


def plant(folder, path, text):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")


def check(folder):
    return subprocess.run([sys.executable, str(CHECK), str(folder)], capture_output=True, text=True, check=False)


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_passes_a_clean_tree(self):
        make_tree(self.folder)
        result = check(self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_catches_each_planted_fault(self):
        make_tree(self.folder)
        for what, path, text, message in PLANTED:
            with self.subTest(what):
                plant(self.folder, path, text)
                result = check(self.folder)
                (self.folder / path).unlink()
                if not any((self.folder / path).parent.iterdir()):
                    (self.folder / path).parent.rmdir()
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn(path, result.stdout)
                self.assertIn(message, result.stdout)
                self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_a_missing_table_is_an_error(self):
        make_tree(self.folder)
        (self.folder / "cmake" / "layers.cmake").write_text("")
        result = check(self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no cableway_layer_uses(", result.stderr)

    def test_a_full_folder_is_a_fault(self):
        make_tree(self.folder)
        for number in range(check_layers.MAX_SOURCES + 1):
            plant(self.folder, f"tests/core/crowd/{number}.cc", "")
        result = check(self.folder)
        self.assertEqual(result.stdout, "tests/core/crowd:0: 31 sources, more than 30: split it\n")

    def test_an_unneeded_dependency_is_a_fault(self):
        make_tree(self.folder, (LAYERS + ROOMS).replace("uses(tools)", "uses(tools tools/cableway)"))
        self.assertEqual(
            check(self.folder).stdout,
            "cmake/layers.cmake:0: folder tools does not use folder tools/cableway: remove it from its line\n",
        )

    def test_a_dependency_on_an_unknown_layer_is_a_fault(self):
        make_tree(self.folder, (LAYERS + ROOMS).replace("uses(sim routing core)", "uses(sim routing core attic)"))
        self.assertIn("layer sim uses attic, which has no line of its own", check(self.folder).stdout)

    def test_a_cycle_in_the_table_is_a_fault(self):
        make_tree(self.folder, (LAYERS + ROOMS).replace("uses(core/flow)", "uses(core/flow core/relay)"))
        plant(self.folder, "core/flow/back.cc", '#include "core/relay/relay.h"\n')
        self.assertRegex(check(self.folder).stdout, "a cycle: core/(flow uses core/relay uses core/flow|relay uses core/flow uses core/relay)\n")


class ThisTreeTest(unittest.TestCase):
    """Plants in each folder of this tree's tables an include from each other folder: the forbidden ones are reported, and
    only those."""

    def test_every_forbidden_include_is_reported(self):
        tables = check_layers.read_tables(ROOT)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            plant(folder, "cmake/layers.cmake", (ROOT / "cmake" / "layers.cmake").read_text(encoding="utf-8"))
            includes = "".join(f'#include "{room}/a_header.h"\n' for room in tables.rooms)
            for room in tables.rooms:
                plant(folder, f"{room}/a_header.h", "")
                plant(folder, f"{room}/a_source.cc", includes)
            reported = set()
            for line in check(folder).stdout.splitlines():
                match = re.match(r"(.*)/a_source.cc:\d+: (?:layer|folder) .* may not use .* \((.*)/a_header.h\)", line)
                self.assertIsNotNone(match, line)
                reported.add(match.groups())
        forbidden = {(a, b) for a in tables.rooms for b in tables.rooms if not self.allowed(tables, a, b)}
        self.assertGreater(len(forbidden), 1000)
        self.assertEqual(reported, forbidden)

    def allowed(self, tables, room, other):
        layer, above = tables.layer_of(f"{room}/x"), tables.layer_of(f"{other}/x")
        if layer != above:
            return above in tables.layers[layer]
        return room == other or other in tables.rooms[room]


class CMakeRefusesTest(unittest.TestCase):
    """Configures projects of two lines on top of cmake/layers.cmake."""

    def configure(self, lines):
        with tempfile.TemporaryDirectory() as folder:
            text = (
                "cmake_minimum_required(VERSION 3.25)\nproject(layers_test LANGUAGES CXX)\n"
                f"include({ROOT}/cmake/layers.cmake)\nadd_library(cableway_warnings INTERFACE)\n"
                'file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/x.cc "")\n'
            )
            layer = "cableway_layer({} SOURCES ${{CMAKE_CURRENT_BINARY_DIR}}/x.cc {})\n"
            text += "".join(layer.format(*line) if isinstance(line, tuple) else line + "\n" for line in lines)
            plant(pathlib.Path(folder), "CMakeLists.txt", text)
            command = ["cmake", "-G", "Ninja", "-S", folder, "-B", folder + "/b"]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def assert_refused(self, lines, message):
        result = self.configure(lines)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn(message, " ".join(result.stderr.split()))

    def test_accepts_the_allowed_dependencies(self):
        result = self.configure([("routing", ""), ("core", "LAYERS routing"), ("sim", "LAYERS core routing")])
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_refuses_a_forbidden_layer(self):
        self.assert_refused([("core", ""), ("routing", "LAYERS core")], "layer routing may not use layer core")

    def test_refuses_a_layer_passed_as_a_library(self):
        self.assert_refused(
            [("core/linux", ""), ("sim", "LIBRARIES cableway_core_linux")], "layer sim may not use layer core/linux"
        )

    def test_refuses_a_layer_linked_afterwards(self):
        self.assert_refused(
            [("sim", ""), ("core", ""), "target_link_libraries(cableway_core PRIVATE cableway_sim)"],
            "layer core may not use layer sim",
        )


if __name__ == "__main__":
    unittest.main()
