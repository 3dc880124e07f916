#!/usr/bin/env python3
"""Reads every source file of a Cableway tree and reports violations of the tree's structure.

    check_layers.py [ROOT]

Prints one line per fault, "file:line: fault", and exits with status 1 if there is any. Checks: includes against the tables
in cmake/layers.cmake (the only definition of the dependencies), the tables against the includes, headers and calls that a
layer must not use, tests outside the folder that mirrors the tested one, meaningless names, files that are too long,
folders that are too full, and paths of one developer's machine.
"""

import collections
import dataclasses
import graphlib
import pathlib
import re
import sys

MAX_LINES = 520
MAX_SOURCES = 30
SOURCE_SUFFIXES = {".h", ".cc", ".c"}
# Of C++ sources elsewhere. The checks of includes would pass over them.
OTHER_SOURCE_SUFFIXES = {".hpp", ".hh", ".hxx", ".cpp", ".cxx", ".ipp", ".inc", ".inl"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake", ".txt", ".map", ".md", ".toml", ".json", ".yml", ""}
LIMITED_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake"}
SKIPPED_FOLDERS = {".git", "build", "out", ".cache", "__pycache__", "corpus"}

EMPTY_NAME = re.compile(r"(^|[._-])(utils?|common|helpers?|managers?|misc)($|[._-])")
# Split, so that this file passes its own check.
FOREIGN_PATH = re.compile("/wo" r"rk/(main|shared)|\.\./sh" r"ared\b|/tmp/te" r"am\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
ARROWS = re.compile(r"^cableway_(layer|room)_uses\(([^)]*)\)", re.MULTILINE)
TABLES = pathlib.PurePosixPath("cmake/layers.cmake")
LINE_COMMENT = re.compile(r"//.*")

CLOCKS = r"\b(steady|system|high_resolution)_clock\b|\babsl::Now\b|\b(clock_gettime|gettimeofday)\b"
RANDOMNESS = r"\b(random_device|mt19937(_64)?|default_random_engine)\b|\bs?rand\(|<random>"
THREADS = r"\bstd::(thread|jthread|async)\b|\bpthread_create\b"
# arpa/inet.h is not in it: inet_pton is a function from text to bytes.
KERNEL = (
    r"sys/(?!types\.h)|unistd\.h|netinet/|net/|netdb\.h|fcntl\.h|poll\.h|linux/|netlink/|infiniband/|"
    r"boost/asio|dlfcn\.h|sched\.h|signal\.h|ifaddrs\.h"
)
UNORDERED = r"absl/container/(flat|node)_hash_(map|set)\.h|absl/hash/"
GRAPH = r"boost/(graph/|property_map/)"
LOGGING = r"iostream$|spdlog/|syslog\.h"

# layer -> [(pattern of an included path, why)]
FORBIDDEN_INCLUDES = {
    "routing": [
        (KERNEL, "routing is pure: no kernel interfaces"),
        (r"(thread|mutex|shared_mutex|condition_variable|future|atomic|pthread\.h)$", "routing is pure: no threads"),
        (r"absl/synchronization/", "routing is pure: no threads"),
        (r"(random|ctime|time\.h)$|absl/(random|time)/", "routing is pure: no clock, no randomness"),
        (LOGGING, "routing is pure: no logging"),
        (UNORDERED, "its order differs between runs: use a std::map, a btree_map or a sorted vector"),
    ],
    "core": [
        (KERNEL, "only core/linux touches the kernel"),
        (GRAPH, "Boost.Graph lives in routing"),
        (r"(thread|future|pthread\.h)$", "threads are created in core/linux"),
        (r"random$|absl/random/", "a seed must reproduce a run: randomness is passed in"),
        (UNORDERED, "its order differs between runs: use a std::map, a btree_map or a sorted vector"),
    ],
    "core/linux": [(GRAPH, "Boost.Graph lives in routing")],
    "nccl_adapter": [
        (GRAPH, "Boost.Graph lives in routing"),
        (r"absl/flags/", "flags in a library that is loaded beside a framework conflict with the framework's own"),
    ],
    "sim": [
        (KERNEL, "the simulator uses no kernel interfaces"),
        (GRAPH, "Boost.Graph lives in routing"),
        (UNORDERED, "its order differs between runs: use a std::map, a btree_map or a sorted vector"),
    ],
    "tools": [(GRAPH, "Boost.Graph lives in routing")],
}

# layer -> [(pattern in the code, why)]
FORBIDDEN_CODE = {
    "routing": [
        (CLOCKS, "routing reads no clock"),
        (RANDOMNESS, "routing is a pure function"),
        (THREADS, "routing creates no thread"),
    ],
    "core": [
        (CLOCKS, "time comes from the Clock"),
        (RANDOMNESS, "randomness is passed in"),
        (THREADS, "threads are created in core/linux"),
    ],
    "sim": [(CLOCKS, "the simulator's time is virtual"), (THREADS, "a simulated world has one thread")],
}


@dataclasses.dataclass(frozen=True)
class Tables:
    """The tables of cmake/layers.cmake: {layer: layers it may use}, {folder: folders of its layer that it may use}."""

    layers: dict[str, set[str]]
    rooms: dict[str, set[str]]

    def layer_of(self, path):
        """The layer that holds a path given relative to the root, or None (tests, scripts, a library's header)."""
        above = [str(folder) for folder in pathlib.PurePosixPath(path).parents]
        return next((folder for folder in above if folder in self.layers), None)


def read_tables(root):
    text = (root / TABLES).read_text(encoding="utf-8")
    found = {"layer": {}, "room": {}}
    for table, line in ARROWS.findall(text):
        words = line.split()
        if words and "$" not in line:
            found[table][words[0]] = set(words[1:])
    if not found["layer"]:
        raise SystemExit(f"{root}/{TABLES}: no cableway_layer_uses(<layer> ..) line found")
    return Tables(found["layer"], found["room"])


def check_tables(tables):
    for table, arrows in (("layer", tables.layers), ("room", tables.rooms)):
        for name, used in arrows.items():
            for unknown in sorted(used - arrows.keys()):
                yield f"{table} {name} uses {unknown}, which has no line of its own"
        try:
            graphlib.TopologicalSorter(arrows).prepare()
        except graphlib.CycleError as error:
            yield f"a cycle: {' uses '.join(reversed(error.args[1]))}"


def walk(root):
    """Every file of the tree below root, in order, as a path relative to root."""
    for path in sorted(root.iterdir()):
        if path.name in SKIPPED_FOLDERS or path.is_symlink():
            continue
        if path.is_dir():
            for below in walk(path):
                yield path.name / below
        else:
            yield pathlib.PurePosixPath(path.name)


def check_names(path):
    for part in path.parts:
        match = EMPTY_NAME.search(part.lower())
        if match:
            yield 0, f"'{match.group(2)}' in a name is meaningless: name the concept"


def check_text(path, lines):
    if path.suffix in LIMITED_SUFFIXES and len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines, more than {MAX_LINES}: split it"
    for number, line in enumerate(lines, 1):
        if FOREIGN_PATH.search(line):
            yield number, f"a path of one developer's machine: {line.strip()}"


def check_include(root, path, included, tables, used):
    if ".." in pathlib.PurePosixPath(included).parts:
        yield f"'..' in an include ({included}): includes start at the root of the tree"
        return
    layer, room = tables.layer_of(path), str(path.parent)
    ours = tables.layer_of(included) if (root / included).is_file() else None
    if ours is not None and ours != layer and ours not in tables.layers[layer]:
        yield f"layer {layer} may not use layer {ours} ({included}): see {TABLES}"
    other = str(pathlib.PurePosixPath(included).parent)
    if ours == layer and other != room:
        used.add((room, other))
        if room in tables.rooms and other not in tables.rooms[room]:
            yield f"folder {room} may not use folder {other} ({included}): see {TABLES}"
    if included.startswith("tests/"):
        yield f"layer {layer} may not use tests ({included})"
    for pattern, why in FORBIDDEN_INCLUDES.get(layer, []):
        if ours is None and re.match(pattern, included):
            yield f"layer {layer} may not include <{included}>: {why}"


def check_code(root, path, lines, tables, used):
    layer = tables.layer_of(path)
    if layer is None or path.suffix not in SOURCE_SUFFIXES:
        return
    if str(path.parent) not in tables.rooms:
        yield 0, f"folder {path.parent} has no cableway_room_uses() line in {TABLES}"
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            for fault in check_include(root, path, match.group(1), tables, used):
                yield number, fault
            if '"' in line and not (root / match.group(1)).is_file() and (root / path.parent / match.group(1)).is_file():
                yield number, f'write "{path.parent}/{match.group(1)}": includes start at the root of the tree'
            continue
        for pattern, why in FORBIDDEN_CODE.get(layer, []):
            found = re.search(pattern, LINE_COMMENT.sub("", line))
            if found:
                yield number, f"'{found.group(0)}' in layer {layer}: {why}"


def check_folders(paths):
    sources = collections.Counter(path.parent for path in paths if path.suffix in LIMITED_SUFFIXES)
    for folder, count in sorted(sources.items()):
        if count > MAX_SOURCES:
            yield folder, 0, f"{count} sources, more than {MAX_SOURCES}: split it"


def check_mirrors(paths, tables):
    """Tests of y.h in the folder X of a layer are in tests/X/y_test.cc."""
    tested = collections.defaultdict(set)  # (layer, name without suffix) -> folders
    for path in paths:
        if path.suffix in SOURCE_SUFFIXES and tables.layer_of(path):
            tested[tables.layer_of(path), path.stem].add(path.parent)
    for path in paths:
        if path.parts[0] != "tests" or not path.name.endswith("_test.cc"):
            continue
        mirrored = path.relative_to("tests")
        folders = tested.get((tables.layer_of(mirrored), path.name.removesuffix("_test.cc")))
        if folders and mirrored.parent not in folders:
            yield path, 0, f"tests what is in {min(folders)}: move it to tests/{min(folders)}"


def check_file(root, path, tables, used):
    yield from check_names(path)
    if path.suffix in OTHER_SOURCE_SUFFIXES:
        yield 0, f"suffix {path.suffix}: sources end in .cc, headers in .h"
    if path.suffix not in TEXT_SUFFIXES:
        return
    try:
        lines = (root / path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return
    yield from check_text(path, lines)
    yield from check_code(root, path, lines, tables, used)


def faults(root):
    tables = read_tables(root)
    for fault in check_tables(tables):
        yield TABLES, 0, fault
    paths = list(walk(root))
    yield from check_folders(paths)
    yield from check_mirrors(paths, tables)
    used = set()  # (folder, folder of the same layer that it includes from)
    for path in paths:
        for number, fault in check_file(root, path, tables, used):
            yield path, number, fault
    for room, others in tables.rooms.items():
        for other in sorted(others):
            if (room, other) not in used:
                yield TABLES, 0, f"folder {room} does not use folder {other}: remove it from its line"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count = 0
    for path, number, fault in faults(root):
        print(f"{path}:{number}: {fault}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
