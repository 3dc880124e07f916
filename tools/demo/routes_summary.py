"""A node's routes in one line, from the output of `cableway routes --json`."""

from __future__ import annotations

from typing import Any

_LONGEST_LINE = 118
_PATHS_SHOWN = 2


def _relays(route: dict[str, Any]) -> list[str]:
    """The relays of each path, `n1` or `n1-n2`; paths that differ only in their cables count once."""
    return list(dict.fromkeys("-".join(path["nodes"][1:-1]) for path in route["paths"]))


def _via(route: dict[str, Any]) -> str:
    relays = _relays(route)
    shown = relays[:_PATHS_SHOWN] + [f"{len(relays) - _PATHS_SHOWN} more"] * (len(relays) > _PATHS_SHOWN)
    return f"{route['destination']} via {' or '.join(shown)}"


def has_relays(view: dict[str, Any]) -> bool:
    return any(route["hops"] > 1 for route in view["routes"])


def summary_line(view: dict[str, Any], name_width: int) -> str:
    direct = [route["destination"] for route in view["routes"] if route["hops"] == 1]
    relayed = [_via(route) for route in view["routes"] if route["hops"] > 1]
    parts = [f"{', '.join(direct)} directly"] * bool(direct) + relayed
    line = f"  {view['node']:<{name_width}}  ->  {'; '.join(parts)}"
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE - 3]} .."
