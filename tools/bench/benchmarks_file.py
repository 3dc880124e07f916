"""Files of benchmarks: docs/benchmarks.md, with sections between markers, each written by the benchmark that owns it; and
measurements as JSON, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bench_error import BenchError

Contents = TypeVar("Contents")

_INTRO = """\
# Benchmarks

Measured by the scripts in `tools/` and `tests/gpu/`, which write their own sections; edits between the markers are
overwritten. Each section names the machine that it ran on. Unmet goals are shown as missed.
"""


def _markers(section: str) -> tuple[str, str]:
    return f"<!-- {section}:begin -->", f"<!-- {section}:end -->"


def replace_section(text: str, section: str, body: str) -> str:
    """The text with the section's body replaced, or appended if the section is missing. Nothing else changes."""
    begin, end = _markers(section)
    whole = f"{begin}\n{body.strip()}\n{end}"
    if begin not in text and end not in text:
        return f"{text.rstrip()}\n\n{whole}\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        raise BenchError(f"expected one {begin} followed by one {end}: repair the markers, or remove them all")
    head, _, rest = text.partition(begin)
    return head + whole + rest.partition(end)[2]


def _replace(path: Path, text: str) -> None:
    """Replaces the file atomically: an interrupted run leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def write_section(path: Path, section: str, body: str) -> None:
    """Writes the section into the file atomically; creates the file if it is missing."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else _INTRO
        _replace(path, replace_section(text, section, body))
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None
    except BenchError as error:
        raise BenchError(f"{path}: {error}") from None


def read_measurements(path: Path, benchmark: str, parse: Callable[[Any], Contents]) -> Contents:
    """Returns what `parse` makes of the document. For a document of another kind it raises ValueError, for a wrong member any
    error."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BenchError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise BenchError(f"{path}: not a file of {benchmark}'s measurements: {type(error).__name__}: {error}; remove it, or name"
                         " another one") from None


def write_measurements(path: Path, document: Mapping[str, Any]) -> None:
    try:
        _replace(path, json.dumps(document))
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None
