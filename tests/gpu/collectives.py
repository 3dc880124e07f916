"""Runs one operation of the test, by name, through torch.distributed."""

from __future__ import annotations

from typing import Any

import test_pattern


def collective(dist: Any, operation: str, given: Any, result: Any, group: Any = None) -> None:
    """Enqueues the operation on the current stream. Operations in place (test_pattern.IN_PLACE) use `result` only.
    `group` has all ranks, in their order."""
    if operation == "all_reduce":
        dist.all_reduce(result, group=group)
    elif operation == "all_gather":
        dist.all_gather_into_tensor(result, given, group=group)
    elif operation == "reduce_scatter":
        dist.reduce_scatter_tensor(result, given, group=group)
    elif operation == "broadcast":
        dist.broadcast(result, 0, group=group)
    elif operation == "reduce":
        dist.reduce(result, 0, group=group)
    elif operation == "all_to_all":
        dist.all_to_all_single(result, given, group=group)
    else:
        peer = test_pattern.opposite_of(dist.get_rank(), dist.get_world_size())
        both = [dist.P2POp(dist.isend, given, peer, group), dist.P2POp(dist.irecv, result, peer, group)]
        for request in dist.batch_isend_irecv(both):
            request.wait()
