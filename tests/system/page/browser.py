"""A headless Chromium that a test drives over its pipe (Chrome DevTools protocol): opens pages, evaluates JavaScript, takes
screenshots, and keeps what the page has written to its console."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_DEADLINE_S = 60.0

Popen = Callable[..., "subprocess.Popen[bytes]"]


def find_browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


class Browser:
    """`popen` starts the program, for instance in a namespace: as LabNodes.popen() without its first argument."""

    def __init__(self, popen: Popen) -> None:
        self._stack = contextlib.ExitStack()
        self._profile = self._stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={self._profile}", "about:blank"]
        words = ["sh", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "sh", str(find_browser()), *options]
        self._process = popen(words, log="browser", pass_fds=[commands, answers])
        os.close(commands)
        os.close(answers)
        self._read = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        with contextlib.suppress(AssertionError, OSError):
            self.call("Browser.close")
        try:
            self._process.wait(10)  # it ends its helpers
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._stack.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            answer = self._next(deadline)
            self._note(answer)
            if answer.get("id") != self._number:
                continue
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def open(self, url: str, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise AssertionError(f"{url}: {failed}")
        self.wait_for("document.readyState === 'complete'")

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def evaluate(self, expression: str) -> Any:
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds:g} s: {expression}; the console has {self.console}")
            time.sleep(0.1)

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, clip: dict[str, float] | None = None) -> None:
        """The whole page, not only what fits into the window, or a part of it: x, y, width, height, scale."""
        part: dict[str, Any] = {} if clip is None else {"clip": clip}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, **part)["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._read:
            readable, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            got = os.read(self._from, 1 << 20) if readable else b""
            if not got:
                raise AssertionError("the browser does not answer")
            self._read += got
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        if message.get("method") == "Log.entryAdded":
            entry = parameters["entry"]
            self.console.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.console.append(f"{parameters['type']}: {[each.get('value') for each in parameters['args']]}")
        elif message.get("method") == "Runtime.exceptionThrown":
            self.console.append(f"exception: {parameters['exceptionDetails']}")
