#!/usr/bin/env python3
"""Plants one fault at a time in a small tree and expects check_layers.py, or CMake, to reject it; then every include
that this tree's own tables forbid.

    check_layers_test.py ROOT
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import check_layers
from planted_faults import LAYERS, PLANTED, PLANTED_CODE, FOLDERS, make_tree, plant, plant_rows

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(".").resolve()
CHECK = pathlib.Path(__file__).with_name("check_layers.py")


def check(folder):
    return subprocess.run([sys.executable, str(CHECK), str(folder)], capture_output=True, text=True, check=False)


def reports(folder):
    return [f"{path}:{number}: {fault}" for path, number, fault in check_layers.faults(folder)]


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_passes_a_clean_tree(self):
        make_tree(self.folder)
        result = check(self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_a_fault_is_printed_and_fails(self):
        make_tree(self.folder)
        plant(self.folder, "core/bad.cc", "#include <unistd.h>\n")
        result = check(self.folder)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, "^core/bad.cc:1: layer core may not include <unistd.h>: .*\n$")

    def test_catches_each_planted_fault(self):
        make_tree(self.folder)
        for what, path, text, message in PLANTED:
            with self.subTest(what):
                plant(self.folder, path, text)
                found = reports(self.folder)
                (self.folder / path).unlink()
                if not any((self.folder / path).parent.iterdir()):
                    (self.folder / path).parent.rmdir()
                self.assertEqual(len(found), 1, found)
                self.assertIn(path, found[0])
                self.assertIn(message, found[0])

    def test_catches_each_planted_line_of_code(self):
        make_tree(self.folder)
        for line, layers in PLANTED_CODE:
            for layer in layers.split():
                with self.subTest(line, layer=layer):
                    plant(self.folder, f"{layer}/bad.cc", line + "\n")
                    found = reports(self.folder)
                    (self.folder / layer / "bad.cc").unlink()
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(f"{layer}/bad.cc:1: ", found[0])
                    self.assertIn(f"layer {layer}", found[0])

    def test_a_symlink_in_the_product_is_a_fault(self):
        make_tree(self.folder)
        (self.folder / "core/fd.h").symlink_to("linux/socket.h")
        (self.folder / "core/flow/linux").symlink_to("../linux")
        self.assertEqual(
            reports(self.folder),
            ["core/fd.h:0: a symlink in the product", "core/flow/linux:0: a symlink in the product"],
        )

    def test_a_symlink_elsewhere_is_no_way_around_a_layer(self):
        make_tree(self.folder)
        (self.folder / "socket").symlink_to("core/linux")
        plant(self.folder, "sim/bad.h", '#include "socket/socket.h"\n')
        self.assertEqual(reports(self.folder), ["sim/bad.h:1: layer sim may not use socket/socket.h, which is in no layer"])

    def test_a_source_that_is_not_utf_8_is_checked(self):
        make_tree(self.folder)
        (self.folder / "core/bad.cc").write_bytes(b"// \xe9\n#include <unistd.h>\n")
        self.assertIn("core/bad.cc:2: layer core may not include <unistd.h>", "".join(reports(self.folder)))

    def test_only_the_skipped_folders_themselves_are_skipped(self):
        for name in ("corpus", "build", "out", ".cache", "__pycache__"):
            with self.subTest(name), tempfile.TemporaryDirectory() as holder:
                folder = pathlib.Path(holder)
                make_tree(folder, LAYERS + FOLDERS + f"cableway_folder_uses(core/{name})\n")
                plant(folder, f"core/{name}/bad.cc", '#include "core/linux/socket.h"\n')
                found = reports(folder)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"core/{name}/bad.cc:1: layer core may not use layer core/linux", found[0])

    def test_a_folder_without_line_and_row_is_a_fault(self):
        make_tree(self.folder)
        plant(self.folder, "core/attic/bad.cc", "")
        self.assertEqual(
            reports(self.folder),
            [
                "docs/architecture.md:0: 0 rows for folder core/attic instead of one",
                "core/attic/bad.cc:0: folder core/attic has no cableway_folder_uses() line in cmake/layers.cmake",
            ],
        )

    def test_a_missing_row_a_second_row_and_a_row_without_a_folder_are_faults(self):
        make_tree(self.folder)
        known = check_layers.read_tables(self.folder).folders.keys() - {"core/relay"}
        plant_rows(self.folder, [*known, "core/flow", "core/attic"])
        self.assertEqual(
            reports(self.folder),
            [
                "docs/architecture.md:0: a row for folder core/attic, which is no folder of a layer with sources: remove it",
                "docs/architecture.md:0: 2 rows for folder core/flow instead of one",
                "docs/architecture.md:0: 0 rows for folder core/relay instead of one",
            ],
        )

    def test_a_line_without_a_folder_is_a_fault(self):
        make_tree(self.folder)
        plant(self.folder, "cmake/layers.cmake", LAYERS + FOLDERS + "cableway_folder_uses(core/attic)\n")
        self.assertEqual(
            reports(self.folder),
            ["cmake/layers.cmake:0: core/attic is no folder of a layer with sources: remove its line"],
        )

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
        make_tree(self.folder, (LAYERS + FOLDERS).replace("uses(tools)", "uses(tools tools/cableway)"))
        self.assertEqual(
            check(self.folder).stdout,
            "cmake/layers.cmake:0: folder tools does not use folder tools/cableway: remove it from its line\n",
        )

    def test_a_dependency_on_an_unknown_layer_is_a_fault(self):
        make_tree(self.folder, (LAYERS + FOLDERS).replace("uses(sim routing core)", "uses(sim routing core attic)"))
        self.assertIn("layer sim uses attic, which has no line of its own", check(self.folder).stdout)

    def test_a_cycle_in_the_table_is_a_fault(self):
        make_tree(self.folder, (LAYERS + FOLDERS).replace("uses(core/flow)", "uses(core/flow core/relay)"))
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
            plant_rows(folder, tables.folders)
            # The names differ, so that the includer's own folder holds no header of the same path.
            headers = {each: f"{each}/{each.replace('/', '_')}.h" for each in tables.folders}
            includes = "".join(f'#include "{header}"\n' for header in headers.values())
            for each in tables.folders:
                plant(folder, headers[each], "")
                plant(folder, f"{each}/a_source.cc", includes)
            reported = set()
            for line in check(folder).stdout.splitlines():
                match = re.match(r"(.*)/a_source.cc:\d+: (?:layer|folder) .* may not use .* \((.*)/\w+.h\)", line)
                self.assertIsNotNone(match, line)
                reported.add(match.groups())
        forbidden = {(a, b) for a in tables.folders for b in tables.folders if not self.allowed(tables, a, b)}
        self.assertGreater(len(forbidden), 1000)
        self.assertEqual(reported, forbidden)

    def allowed(self, tables, each, other):
        layer, above = tables.layer_of(f"{each}/x"), tables.layer_of(f"{other}/x")
        if layer != above:
            return above in tables.layers[layer]
        return each == other or other in tables.folders[each]


class CMakeRefusesTest(unittest.TestCase):
    """Configures projects of a few lines on top of cmake/layers.cmake, each layer in its folder as in this tree."""

    def configure(self, *parts):
        with tempfile.TemporaryDirectory() as name:
            lists = collections.defaultdict(str)
            for folder, line in parts:
                lists[folder] += line + "\n"
            root = (
                "cmake_minimum_required(VERSION 3.25)\nproject(layers_test LANGUAGES CXX)\n"
                f"include({ROOT}/cmake/layers.cmake)\nadd_library(cableway_warnings INTERFACE)\n"
                'file(WRITE ${CMAKE_BINARY_DIR}/x.cc "")\n'
            )
            root += "".join(f"add_subdirectory({folder})\n" for folder in lists if folder != ".")
            lists["."] = root + lists["."]
            for folder, text in lists.items():
                plant(pathlib.Path(name), f"{folder}/CMakeLists.txt", text)
            command = ["cmake", "-G", "Ninja", "-S", name, "-B", name + "/b"]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def assert_accepted(self, *parts):
        result = self.configure(*parts)
        self.assertEqual(result.returncode, 0, result.stderr)

    def assert_refused(self, message, *parts):
        result = self.configure(*parts)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn(message, " ".join(result.stderr.split()))

    def layer(self, layer, arguments=""):
        return layer, f"cableway_layer({layer} SOURCES ${{CMAKE_BINARY_DIR}}/x.cc {arguments})"

    def library(self, folder, name, linked=""):
        return folder, f"add_library({name} STATIC ${{CMAKE_BINARY_DIR}}/x.cc)\ntarget_link_libraries({name} PUBLIC {linked})"

    def test_accepts_the_allowed_dependencies(self):
        self.assert_accepted(
            self.layer("routing"),
            self.layer("core", "LAYERS routing"),
            self.layer("core/linux", "LAYERS core"),
            self.library("core/linux", "node", "cableway_core_linux"),
            self.layer("sim", "LAYERS core routing"),
            self.library("tools", "daemon", "node cableway_sim"),
            self.library("tests/sim", "sim_world", "cableway_sim node"),
        )

    def test_refuses_a_forbidden_layer(self):
        self.assert_refused(
            "layer routing may not use layer core", self.layer("core"), self.layer("routing", "LAYERS core")
        )

    def test_refuses_a_layer_passed_as_a_library(self):
        self.assert_refused(
            "layer sim may not use layer core/linux",
            self.layer("core/linux"),
            self.layer("sim", "LIBRARIES cableway_core_linux"),
        )

    def test_refuses_a_layer_linked_afterwards(self):
        self.assert_refused(
            "layer core may not use layer sim",
            self.layer("sim"),
            self.layer("core"),
            (".", "target_link_libraries(cableway_core PRIVATE cableway_sim)"),
        )

    def test_refuses_another_library_of_a_layer(self):
        for link in (
            "target_link_libraries(cableway_sim PUBLIC node)",
            "target_link_libraries(cableway_sim INTERFACE node)",
            "target_link_libraries(cableway_sim PRIVATE $<$<BOOL:1>:node>)",
            "add_library(a::node ALIAS node)\ntarget_link_libraries(cableway_sim PRIVATE a::node)",
            "add_library(bridge INTERFACE)\ntarget_link_libraries(bridge INTERFACE node)\n"
            "target_link_libraries(cableway_sim PRIVATE bridge)",
        ):
            with self.subTest(link):
                self.assert_refused(
                    "layer sim may not use layer core/linux",
                    self.library("core/linux", "node"),
                    self.layer("sim"),
                    (".", link),
                )

    def test_checks_another_library_of_a_layer(self):
        self.assert_refused(
            "layer sim may not use layer core/linux",
            self.layer("core/linux"),
            self.library("sim", "workload", "cableway_core_linux"),
        )


if __name__ == "__main__":
    unittest.main()
