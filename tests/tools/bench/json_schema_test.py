#!/usr/bin/env python3
"""Every JSON document that a benchmark's program prints begins with its schema's version, as those of cableway do.

Usage: json_schema_test.py PROGRAM ARGUMENTS [, PROGRAM ARGUMENTS]...
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import unittest

COMMANDS: list[list[str]] = []


class JsonSchemaTest(unittest.TestCase):
    def test_the_first_member_is_the_version(self) -> None:
        self.assertGreater(len(COMMANDS), 0)
        for command in COMMANDS:
            with self.subTest(command):
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                self.assertEqual(list(json.loads(done.stdout).items())[0], ("schema", 1))


if __name__ == "__main__":
    groups = itertools.groupby(sys.argv[1:], lambda word: word == ",")
    COMMANDS = [list(words) for is_comma, words in groups if not is_comma]
    unittest.main(argv=sys.argv[:1])
