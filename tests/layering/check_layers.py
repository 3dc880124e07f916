#!/usr/bin/env python3
"""Reads every source file of a Cableway tree and reports violations of the tree's structure.

    check_layers.py [ROOT]

Prints one line per fault, "file:line: fault", and exits with status 1 if there is any. Checks: includes against the tables
in cmake/layers.cmake (the only definition of the dependencies), the tables against the includes, headers and calls that a
layer must not use (layer_rules.py), product folders against the rows of docs/architecture.md, files of other kinds and
symlinks in product folders, tests outside the folder that mirrors the tested one, meaningless names, files that are too
long, folders that are too full, and paths of one developer's machine.
"""

import collections
import dataclasses
import graphlib
import os
import pathlib
import re
import sys

from layer_rules import FORBIDDEN_CODE, FORBIDDEN_INCLUDES

MAX_LINES = 520
MAX_SOURCES = 30
SOURCE_SUFFIXES = {".h", ".cc", ".c"}
OTHER_SOURCE_SUFFIXES = {".hpp", ".hh", ".hxx", ".cpp", ".cxx", ".ipp", ".inc", ".inl"}
# What a folder of a layer may hold. A file of another kind could be included, and would not be checked.
PRODUCT_FILE = re.compile(r"CMakeLists\.txt|.*\.(h|cc|py|sh|md|map|html|css|js|service\.in)|lab|softroce|sysusers\.conf|control\.in|(post|pre)(inst|rm)|copyright|needrestart\.conf|cableway\.toml")
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake", ".txt", ".map", ".md", ".toml", ".json", ".yml", ""}
LIMITED_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake"}
SKIPPED_FOLDERS = {".git", "build", "out", ".cache", "tests/fuzz/corpus"}
TABLES = pathlib.PurePosixPath("cmake/layers.cmake")
ROWS = pathlib.PurePosixPath("docs/architecture.md")

EMPTY_NAME = re.compile(r"(^|[._-])(utils?|common|helpers?|managers?|misc)($|[._-])")
# Split, so that this file passes its own check.
FOREIGN_PATH = re.compile("/wo" r"rk/(main|shared)|\.\./sh" r"ared\b|/tmp/te" r"am\b")
PLAIN_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]')
ANY_INCLUDE = re.compile(r"(?:#|%:)(?:[ \t\f\v]|/\*.*?\*/)*(?:include|include_next|import|embed)\b", re.DOTALL)
CONTINUED_LINE = re.compile(r"(?:.*\\[ \t]*\n)+.*")
CONTINUATION = re.compile(r"\\[ \t]*\n")
# Strings are kept: "//" in one begins no comment.
STRING_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')|//.*""")
ARROWS = re.compile(r"^cableway_(layer|folder)_uses\(([^)]*)\)", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Tables:
    """The tables of cmake/layers.cmake: {layer: layers it may use}, {folder: folders of its layer that it may use}."""

    layers: dict[str, set[str]]
    folders: dict[str, set[str]]

    def layer_of(self, path):
        """The layer that holds a path given relative to the root, or None (tests, scripts, a library's header)."""
        folder = str(path)
        while folder and folder not in self.layers:
            folder = folder.rpartition("/")[0]
        return folder or None


def read_tables(root):
    text = (root / TABLES).read_text(encoding="utf-8")
    found = {"layer": {}, "folder": {}}
    for table, line in ARROWS.findall(text):
        words = line.split()
        if words and "$" not in line:
            found[table][words[0]] = set(words[1:])
    if not found["layer"]:
        raise SystemExit(f"{root}/{TABLES}: no cableway_layer_uses(<layer> ..) line found")
    return Tables(found["layer"], found["folder"])


def check_tables(tables):
    for table, arrows in (("layer", tables.layers), ("folder", tables.folders)):
        for name, used in arrows.items():
            for unknown in sorted(used - arrows.keys()):
                yield f"{table} {name} uses {unknown}, which has no line of its own"
        try:
            graphlib.TopologicalSorter(arrows).prepare()
        except graphlib.CycleError as error:
            yield f"a cycle: {' uses '.join(reversed(error.args[1]))}"


def walk(root, folder=""):
    """Every file and symlink of the tree below root, in order, as a path relative to root."""
    for entry in sorted(os.scandir(root / folder), key=lambda entry: entry.name):
        path = pathlib.PurePosixPath(folder, entry.name)
        if str(path) in SKIPPED_FOLDERS or path.suffix == ".pyc":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from walk(root, path)
        else:
            yield path


def source_folders(paths, tables):
    """The product's folders: those of the layers that hold sources."""
    return {str(path.parent) for path in paths if path.suffix in LIMITED_SUFFIXES and tables.layer_of(path)}


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


def check_library(layer, included):
    for pattern, why in FORBIDDEN_INCLUDES.get(layer, []):
        if re.match(pattern, included):
            yield f"layer {layer} may not include <{included}>: {why}"
            return


def check_include(path, included, tables, used):
    """The faults of an include of a file of this tree."""
    layer, own = tables.layer_of(path), str(path.parent)
    ours, other = tables.layer_of(included), str(pathlib.PurePosixPath(included).parent)
    if ours is None:
        yield f"layer {layer} may not use {included}, which is in no layer"
        return
    if pathlib.PurePosixPath(included).suffix not in SOURCE_SUFFIXES:
        yield f"an include of {included}: headers end in .h"
    if ours != layer and ours not in tables.layers[layer]:
        yield f"layer {layer} may not use layer {ours} ({included}): see {TABLES}"
    if ours == layer and other != own:
        used.add((own, other))
        if own in tables.folders and other not in tables.folders[own]:
            yield f"folder {own} may not use folder {other} ({included}): see {TABLES}"


def check_directive(root, path, line, tables, used):
    plain = PLAIN_INCLUDE.match(line)
    if not plain:
        yield f"no plain #include: {line.strip()}"
        return
    quote, included = plain.groups()
    parts = pathlib.PurePosixPath(included)
    if parts.is_absolute() or ".." in parts.parts or str(parts) != included:
        yield f"'..', '.', '//' or a leading '/' in an include ({included}): includes start at the root of the tree"
    elif quote == '"' and (root / path.parent / included).is_file():
        yield f'write "{path.parent}/{included}": includes start at the root of the tree'
    elif (root / included).is_file():
        yield from check_include(path, included, tables, used)
    else:
        yield from check_library(tables.layer_of(path), included)


def join_continued_lines(text):
    """Keeps the number of lines: the joined line is followed by empty ones."""
    if not CONTINUATION.search(text):
        return text
    return CONTINUED_LINE.sub(lambda lines: CONTINUATION.sub("", lines[0]) + "\n" * lines[0].count("\n"), text)


def check_code(layer, text):
    """One fault per line."""
    if layer not in FORBIDDEN_CODE:
        return
    code, found = STRING_OR_COMMENT.sub(r"\1", PLAIN_INCLUDE.sub("", text)), {}
    for pattern, why in FORBIDDEN_CODE[layer]:
        for match in re.finditer(pattern, code):
            found.setdefault(code.count("\n", 0, match.start()) + 1, f"'{match[0]}' in layer {layer}: {why}")
    yield from found.items()


def check_source(root, path, text, tables, used):
    layer = tables.layer_of(path)
    if layer is None or path.suffix not in SOURCE_SUFFIXES:
        return
    if str(path.parent) not in tables.folders:
        yield 0, f"folder {path.parent} has no cableway_folder_uses() line in {TABLES}"
    text = join_continued_lines(text)
    lines = text.split("\n")
    for directive in ANY_INCLUDE.finditer(text):
        number = text.count("\n", 0, directive.start()) + 1
        for fault in check_directive(root, path, lines[number - 1], tables, used):
            yield number, fault
    yield from check_code(layer, text)


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


def check_rows(root, folders):
    text = (root / ROWS).read_text(encoding="utf-8")
    rows = collections.Counter(ROW.findall(text.partition("\n## Folders\n")[2].partition("\n## ")[0]))
    for folder in sorted(folders | rows.keys()):
        if folder not in folders:
            yield f"a row for folder {folder}, which is no folder of a layer with sources: remove it"
        elif rows[folder] != 1:
            yield f"{rows[folder]} rows for folder {folder} instead of one"


def check_kind(path, tables):
    if tables.layer_of(path) is None:
        if path.suffix in OTHER_SOURCE_SUFFIXES:
            yield 0, f"suffix {path.suffix}: sources end in .cc, headers in .h"
    elif not PRODUCT_FILE.fullmatch(path.name):
        yield 0, f"suffix {path.suffix or '(none)'}: sources end in .cc, headers in .h; other kinds are in PRODUCT_FILE"


def check_file(root, path, tables, used):
    if (root / path).is_symlink():
        if tables.layer_of(path):
            yield 0, "a symlink in the product"
        return
    yield from check_names(path)
    yield from check_kind(path, tables)
    if path.suffix in TEXT_SUFFIXES:
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        yield from check_text(path, text.splitlines())
        yield from check_source(root, path, text, tables, used)


def check_needed(tables, folders, used):
    for folder, others in tables.folders.items():
        if folder not in folders:
            yield f"{folder} is no folder of a layer with sources: remove its line"
        for other in sorted(others):
            if (folder, other) not in used:
                yield f"folder {folder} does not use folder {other}: remove it from its line"


def faults(root):
    tables = read_tables(root)
    for fault in check_tables(tables):
        yield TABLES, 0, fault
    paths = list(walk(root))
    folders = source_folders(paths, tables)
    yield from check_folders(paths)
    yield from check_mirrors(paths, tables)
    for fault in check_rows(root, folders):
        yield ROWS, 0, fault
    used = set()  # (folder, folder of the same layer that it includes from)
    for path in paths:
        for number, fault in check_file(root, path, tables, used):
            yield path, number, fault
    for fault in check_needed(tables, folders, used):
        yield TABLES, 0, fault


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count = 0
    for path, number, fault in faults(root):
        print(f"{path}:{number}: {fault}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
