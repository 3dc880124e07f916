"""The fenced blocks of docs/guide.md and what their info strings say about them.

    ```sh on=spark-0 with=docker        commands, run on that host, with the stand-in docker
    ```sh on=each-spark                 run on every host of this cluster at once
    ```sh on=spark-0 settles            repeated until it succeeds and prints what is expected, as a reader would look again
    ```sh on=spark-0 status=0,1         may end with one of these, such as the warnings of doctor
    ```text output                      what the commands above print; `..` is any text, alone in a line any lines
    ```text output figures=any          the same, and every number is any number
    ```text picture                     no commands and no output
    ```yaml file=compose.yaml on=each   a file that the reader writes, in the home folder of those hosts
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FILE_LANGUAGES = ("yaml", "toml", "python", "sh")
KNOWN = {"on", "with", "file", "output", "picture", "figures", "settles", "status"}


class GuideError(AssertionError):
    """The guide has a block that no test can check."""


@dataclass
class Block:
    line: int
    language: str
    words: dict[str, str]
    text: str
    outputs: list[Block] = field(default_factory=list)

    @property
    def hosts(self) -> str:
        return self.words.get("on", "")

    @property
    def stand_ins(self) -> list[str]:
        return [name for name in self.words.get("with", "").split(",") if name]

    @property
    def statuses(self) -> list[int]:
        return [int(status) for status in self.words.get("status", "0").split(",")]

    @property
    def is_file(self) -> bool:
        return "file" in self.words

    @property
    def is_run(self) -> bool:
        return self.language == "sh" and not self.is_file

    def __str__(self) -> str:
        return f"docs/guide.md:{self.line}"


def read_blocks(path: Path) -> list[Block]:
    """Every fenced block; raises GuideError for one that is neither run, nor an output, a file or a picture."""
    return parse_blocks(path.read_text(encoding="utf-8"))


def parse_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        opening = re.match(r"\s*(`{3,}|~{3,})(.*)$", lines[number])
        if opening is None:
            if re.match(r"( {4}|\t)\S", lines[number]) and (number == 0 or not lines[number - 1].strip()):
                raise GuideError(f"docs/guide.md:{number + 1}: an indented block; expected a fence, whose words say what it is")
            number += 1
            continue
        begin = number
        number += 1
        while number < len(lines) and lines[number].strip() != opening[1]:
            number += 1
        if number == len(lines):
            raise GuideError(f"docs/guide.md:{begin + 1}: this fence does not end")
        _add(blocks, begin + 1, opening[2].split(), "\n".join(lines[begin + 1:number]) + "\n")
        number += 1
    return blocks


def _add(blocks: list[Block], line: int, info: list[str], text: str) -> None:
    words = dict(word.partition("=")[::2] for word in info[1:])
    block = Block(line, info[0] if info else "", words, text)
    if unknown := set(words) - KNOWN:
        raise GuideError(f"{block}: unknown words {sorted(unknown)} after the fence; expected some of {sorted(KNOWN)}")
    if "picture" in words and block.language == "text":
        return
    if "output" in words and block.language == "text":
        if not blocks or not blocks[-1].is_run:
            raise GuideError(f"{block}: an output without commands above it")
        blocks[-1].outputs.append(block)
        return
    if block.is_file and block.language in FILE_LANGUAGES and block.hosts:
        blocks.append(block)
        return
    if block.is_run and block.hosts:
        blocks.append(block)
        return
    raise GuideError(f"{block}: nothing runs this block of '{block.language}'; expected on=HOST for commands, file=NAME and "
                     "on=HOST for a file, `text output` or `text picture`")


def output_fault(expected: Block, printed: str) -> str | None:
    """What does not match, or None. Runs of white space are equal; what is printed around the expected lines counts, too."""
    pattern = ""
    for line in expected.text.rstrip("\n").splitlines():
        if line.strip() == "..":
            pattern += r"(?:[^\n]*\n)*?"
            continue
        pattern += _line_pattern(line.strip(), expected.words.get("figures") == "any") + r"[ \t]*\n"
    if re.fullmatch(pattern, printed if printed.endswith("\n") else printed + "\n"):
        return None
    return f"{expected}: expected\n{expected.text}printed was\n{printed}"


def _line_pattern(line: str, any_figures: bool) -> str:
    parts = []
    for part in re.split(r"(\.\.|\s+)", line):
        if part == "..":
            parts.append(r"[^\n]*?")
        elif part.isspace():
            parts.append(r"[ \t]+")
        else:
            escaped = re.escape(part)
            parts.append(re.sub(r"\d+(?:\\\.\d+)?", lambda _: r"\d+(?:\.\d+)?", escaped) if any_figures else escaped)
    return r"[ \t]*" + "".join(parts)
