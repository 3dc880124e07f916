"""A stub of a node's HTTP server: the page of the sources, with documents of a topology and of flows that a test invents."""

from __future__ import annotations

import http.server
import json
import math
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_PAGE = Path(__file__).resolve().parents[3] / "core" / "page"
_RATE_MBPS = 100_000


def page_html() -> str:
    style = (_PAGE / "page.css").read_text()
    script = "".join((_PAGE / name).read_text() for name in ("map.js", "page.js"))
    return (_PAGE / "page.html").read_text().replace("{{style}}", style).replace("{{script}}", script)


def circle_map(count: int, joined: list[tuple[int, int]], name: str = "spark-") -> dict[str, Any]:
    """Nodes on a circle, as routing/layout places them."""
    width = max(68, len(f"{name}{count}") * 8 + 18)
    spacing = width + (44 if count > 16 else 110)
    radius = spacing / 2 / math.sin(math.pi / max(count, 3))
    turn = 2 * math.pi / count
    nodes = [{"name": f"{name}{i}", "x": round(radius * math.sin(turn * i), 1), "y": round(-radius * math.cos(turn * i), 1),
              "width": width, "draining": i == 2} for i in range(count)]
    cables = [{"cable": f"c{i}", "a": {"node": a, "interface": f"to-{b}"}, "b": {"node": b, "interface": f"to-{a}"},
               "rate_mbps": _RATE_MBPS, "latency_us": 12.5, "loss_percent": 0, "draining": False, "used": i != 1, "bend": 0}
              for i, (a, b) in enumerate(joined)]
    return {"schema": 1, "node": f"{name}0", "width": 0, "height": 0, "node_count": count, "cable_count": len(cables),
            "nodes": nodes, "cables": cables, "gone": [], "wires": []}


def twins_map(count: int) -> dict[str, Any]:
    """A ring in which every wire is two cables."""
    the_map = circle_map(count, [(i, (i + 1) % count) for i in range(count) for _ in range(2)])
    for i, cable in enumerate(the_map["cables"]):
        for end in ("a", "b"):
            cable[end]["interface"] += f"-{i % 2}"
        cable["bend"] = 8 if i % 2 == 0 else -8
        cable["used"] = True
    the_map["wires"] = [{"cables": [f"c{i}", f"c{i + 1}"], "rate_mbps": _RATE_MBPS} for i in range(0, 2 * count, 2)]
    return the_map


def lose(the_map: dict[str, Any], place: int) -> None:
    """The cable at that place of the list is gone from now on."""
    the_map["gone"].append({**the_map["cables"].pop(place), "since": "2026-01-02T03:04:05.678Z"})


class StubNode:
    """Serves http://127.0.0.1:PORT/ until the end of its context. The ports of node 0 carry more from one to the next."""

    def __init__(self, the_map: dict[str, Any], flows: int, hostile: str = "") -> None:
        self._map, self._flows, self._hostile = the_map, flows, hostile
        self._began = time.monotonic()
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                stub.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> StubNode:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html" if request.path == "/" else "text/event-stream")
        request.end_headers()
        if request.path == "/":
            request.wfile.write(page_html().encode())
            return
        try:
            for name, document in (("map", self._map), ("log", self._log())):
                self._send(request, name, document)
            while True:
                self._send(request, "live", self._live())
                time.sleep(0.5)
        except OSError:
            pass  # the browser has gone

    @staticmethod
    def _send(request: http.server.BaseHTTPRequestHandler, name: str, document: dict[str, Any]) -> None:
        request.wfile.write(f"event: {name}\ndata: {json.dumps(document)}\n\n".encode())

    def _log(self) -> dict[str, Any]:
        text = self._hostile or "cable to-1 to node spark-1 port to-0 is up after 0.3 s"
        return {"schema": 1, "events": [{"number": i, "time": "2026-01-02T03:04:05.678901Z", "severity": severity,
                                         "code": "CABLE_UP", "text": text}
                                        for i, severity in enumerate(("info", "warning", "error"))]}

    @staticmethod
    def _counts(sent: int, over_rdma: bool) -> dict[str, int | None]:
        received = sent // 3
        if over_rdma:
            return {"received_bytes": 0, "sent_bytes": 0, "rdma_received_bytes": received, "rdma_sent_bytes": sent}
        return {"received_bytes": received, "sent_bytes": sent, "rdma_received_bytes": None, "rdma_sent_bytes": None}

    def _live(self) -> dict[str, Any]:
        seconds = time.monotonic() - self._began
        own = [end for cable in self._map["cables"] for end in (cable["a"], cable["b"]) if end["node"] == 0]
        ports = []
        for i, end in enumerate(own):
            sent = int(seconds * _RATE_MBPS * 125_000 * (i % 10) / 10)
            cable = {"cable": f"c{i}", "neighbour": f"spark-{i + 1}", "interface": "to-0", "up": True, "latency_us": 12.5}
            ports.append({"interface": end["interface"], "carrier": True, "rate_mbps": _RATE_MBPS, "rdma": False,
                          "counts": self._counts(sent, over_rdma=i % 2 == 1), "cables": [cable]})
        path = "spark-0 -> spark-1 -> spark-2 -> spark-3" + self._hostile
        flows = [{"flow": f"{i:016x}", "process": 1000 + i, "node": f"spark-{i % 7}", "sends": i % 2 == 0, "paths": [path],
                  "bytes": int(seconds * 1e9), "bytes_per_s": 1_000_000_000 // (i + 1), "reroutes": i % 2,
                  "waits": None}
                 for i in range(min(self._flows, 100))]
        circuits = [{"flow": f"{i:016x}", "path": path, "bytes": int(seconds * 1e8), "open_ms": 1000} for i in range(3)]
        problems = [{"code": "CABLE_LOSSY", "severity": "warning", "interface": "to-1", "seconds": 3,
                     "advice": "replace the cable", "text": "cable to-1 loses 7 % of its packets" + self._hostile}]
        return {"schema": 1, "node": "spark-0", "cluster": "cableway", "version": "1.0", "at_ms": int(seconds * 1000),
                "sessions": 1, "draining": False, "ports": ports, "problems": problems, "flows": flows, "circuits": circuits,
                "own": {"flows_open": self._flows, "flows_opened": self._flows, "flows_failed": 0, "flows_waiting": 0,
                        "received_bytes_per_s": 1, "sent_bytes_per_s": 1, "bytes_again": 0, "flows_listed": self._flows},
                "relayed": {"bytes": int(seconds * 1e9), "circuits_open": 3, "circuits_opened": 9, "circuits_broken": 0,
                            "memory_bytes": 1 << 20, "memory_limit_bytes": 2 << 30}}
