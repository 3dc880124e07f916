"""The data that ranks send, the expected result of each operation, and the operations themselves.

A value depends on rank, element index and iteration, so that bytes of another rank, another place or an
earlier iteration are detected. The mixing steps are those of lowbias32 (https://nullprogram.com/blog/2018/07/31/).
int32 data uses all 32 bits (sums wrap around, as in NCCL); float32 data uses 20 bits, so that sums stay exact.

`value` is the definition; `rows` is the same on tensors and is compared with it before anything is measured.
Every function takes the torch module, or its distributed one, as an argument where it needs one, so this file can be
tested without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "opposite")
ALL_OPERATIONS = (*OPERATIONS, "reduce")
ONE_WAY = ("opposite_pair", "neighbour")  # only rank 0 sends, to the opposite rank; each rank sends to the next
IN_PLACE = ("all_reduce", "reduce")
INT32, FLOAT32 = "int32", "float32"
ELEMENT_BYTES = 4
_MASK = 0xFFFFFFFF
_FLOAT_MASK = 0xFFFFF
_RANK_STEP, _ITERATION_STEP, _FIRST_FACTOR, _SECOND_FACTOR = 0x9E3779B1, 0x85EBCA77, 0x7FEB352D, 0x846CA68B
_CHUNK_ELEMENTS = 1 << 23  # bounds the 8-byte temporaries: 64 MiB each
_POISON = {INT32: -559038737, FLOAT32: float("nan")}


def value(rank: int, index: int, iteration: int) -> int:
    """The 32-bit pattern of one element."""
    x = (index + (rank + 1) * _RANK_STEP + (iteration + 1) * _ITERATION_STEP) & _MASK
    x ^= x >> 16
    x = (x * _FIRST_FACTOR) & _MASK
    x ^= x >> 15
    x = (x * _SECOND_FACTOR) & _MASK
    return x ^ (x >> 16)


def as_element(pattern: int, kind: str) -> int | float:
    """Converts a pattern, or a sum of patterns, to an element of that kind."""
    if kind == FLOAT32:
        return float(pattern)
    return ((pattern + (1 << 31)) & _MASK) - (1 << 31)


def contribution(rank: int, index: int, iteration: int, kind: str) -> int:
    pattern = value(rank, index, iteration)
    return pattern & _FLOAT_MASK if kind == FLOAT32 else pattern


@dataclass(frozen=True)
class Segment:
    """A run of output elements: those of `ranks`' inputs from `input_start` on, summed."""

    output_start: int
    length: int
    ranks: tuple[int, ...]
    input_start: int


def element_count(operation: str, size_bytes: int, ranks: int) -> int:
    """Elements for a nominal size, as nccl-tests counts it; rounded up to what the ranks can divide."""
    wanted = max(1, size_bytes // ELEMENT_BYTES)
    if operation in ("all_gather", "reduce_scatter", "all_to_all"):
        return -(-wanted // ranks) * ranks
    return wanted


def input_elements(operation: str, elements: int, ranks: int) -> int:
    return elements // ranks if operation == "all_gather" else elements


def output_elements(operation: str, elements: int, ranks: int) -> int:
    return elements // ranks if operation == "reduce_scatter" else elements


def sent_to(operation: str, rank: int, ranks: int) -> int | None:
    """The rank that gets `rank`'s input in `opposite` and ONE_WAY; None if it sends nothing."""
    if operation == "opposite_pair" and rank != 0:
        return None
    return (rank + (1 if operation == "neighbour" else ranks // 2)) % ranks


def received_from(operation: str, rank: int, ranks: int) -> int | None:
    return next((other for other in range(ranks) if sent_to(operation, other, ranks) == rank), None)


def expected(operation: str, rank: int, ranks: int, elements: int, root: int = 0) -> list[Segment]:
    """The expected contents of `rank`'s output; nothing for a rank that receives nothing."""
    share, all_ranks = elements // ranks, tuple(range(ranks))
    if operation == "all_reduce":
        return [Segment(0, elements, all_ranks, 0)]
    if operation == "reduce_scatter":
        return [Segment(0, share, all_ranks, rank * share)]
    if operation == "reduce":  # in place: a rank that is not the root keeps its input
        return [Segment(0, elements, all_ranks if rank == root else (rank,), 0)]
    if operation == "broadcast":
        return [Segment(0, elements, (root,), 0)]
    if operation == "opposite" or operation in ONE_WAY:
        sender = received_from(operation, rank, ranks)
        return [] if sender is None else [Segment(0, elements, (sender,), 0)]
    first = {"all_gather": 0, "all_to_all": rank * share}[operation]
    return [Segment(other * share, share, (other,), first) for other in range(ranks)]


def bus_factor(operation: str, ranks: int) -> float:
    """busbw / algbw, as nccl-tests defines it."""
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if operation in ("all_gather", "reduce_scatter", "all_to_all"):
        return (ranks - 1) / ranks
    return 1.0


def _patterns(torch: Any, rank: int, iterations: Any, start: int, length: int, kind: str) -> Any:
    index = torch.arange(start, start + length, dtype=torch.int64, device=iterations.device)
    shift = ((iterations + 1) * _ITERATION_STEP + (rank + 1) * _RANK_STEP) & _MASK
    x = (index[None, :] + shift[:, None]) & _MASK
    x ^= x >> 16
    x = (x * _FIRST_FACTOR) & _MASK
    x ^= x >> 15
    x = (x * _SECOND_FACTOR) & _MASK
    x ^= x >> 16
    return x & _FLOAT_MASK if kind == FLOAT32 else x


def rows(torch: Any, ranks: tuple[int, ...], iterations: Any, start: int, length: int, kind: str) -> Any:
    """One row an iteration: elements start .. start + length of the ranks' inputs, summed."""
    total = _patterns(torch, ranks[0], iterations, start, length, kind)
    for rank in ranks[1:]:
        total += _patterns(torch, rank, iterations, start, length, kind)
    if kind == FLOAT32:
        return total.to(torch.float32)
    return (((total + (1 << 31)) & _MASK) - (1 << 31)).to(torch.int32)


def _tiles(row_count: int, length: int) -> list[tuple[int, int, int, int]]:
    """Cuts a table of rows into pieces (first row, end row, first column, end column) of bounded size."""
    high = max(1, min(row_count, _CHUNK_ELEMENTS // max(1, length)))
    return [(top, min(top + high, row_count), left, min(left + _CHUNK_ELEMENTS, length))
            for top in range(0, row_count, high) for left in range(0, length, _CHUNK_ELEMENTS)]


def fill(torch: Any, table: Any, rank: int, first_iteration: int, kind: str) -> None:
    """Writes a rank's inputs: row k is iteration first_iteration + k."""
    for top, bottom, left, right in _tiles(*table.shape):
        iterations = torch.arange(first_iteration + top, first_iteration + bottom, device=table.device)
        table[top:bottom, left:right] = rows(torch, (rank,), iterations, left, right - left, kind)


def poison(table: Any, kind: str) -> None:
    table.fill_(_POISON[kind])


def count_wrong(torch: Any, table: Any, segments: list[Segment], first_iteration: int, kind: str) -> int:
    """Elements of the outputs (row k is iteration first_iteration + k) that are not as expected."""
    wrong = torch.zeros((), dtype=torch.int64, device=table.device)
    for part in segments:
        for top, bottom, left, right in _tiles(table.shape[0], part.length):
            iterations = torch.arange(first_iteration + top, first_iteration + bottom, device=table.device)
            right_rows = rows(torch, part.ranks, iterations, part.input_start + left, right - left, kind)
            got = table[top:bottom, part.output_start + left:part.output_start + right]
            wrong += (got != right_rows).sum()
    return int(wrong.item())


def collective(dist: Any, operation: str, given: Any, result: Any, group: Any = None) -> None:
    """Enqueues the operation on the current stream. Operations in place (IN_PLACE) use `result` only.
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
        place = operation, dist.get_rank(), dist.get_world_size()
        ways = ((dist.isend, given, sent_to(*place)), (dist.irecv, result, received_from(*place)))
        wanted = [dist.P2POp(way, data, peer, group) for way, data, peer in ways if peer is not None]
        for request in dist.batch_isend_irecv(wanted) if wanted else []:
            request.wait()


def check_against_definition(torch: Any, device: Any) -> None:
    """Raises RuntimeError unless `rows` agrees with `value` and count_wrong() detects a single changed element."""
    iterations = torch.tensor([0, 7, 123456], device=device)
    for kind in (INT32, FLOAT32):
        for ranks in ((3,), (0, 1, 2, 3)):
            for start in (0, 1, (1 << 26) - 5):
                got = rows(torch, ranks, iterations, start, 9, kind).tolist()
                want = [[as_element(sum(contribution(rank, index, iteration, kind) for rank in ranks), kind)
                         for index in range(start, start + 9)] for iteration in (0, 7, 123456)]
                if got != want:
                    raise RuntimeError(f"the test data differs from its definition: {kind} {ranks} {start}: {got}")
        table = torch.empty((2, 1000), dtype=getattr(torch, kind), device=device)
        fill(torch, table, 1, 40, kind)
        segments = [Segment(0, 1000, (1,), 0)]
        before = count_wrong(torch, table, segments, 40, kind)
        table[1, 617] += 1
        after, stale = count_wrong(torch, table, segments, 40, kind), count_wrong(torch, table, segments, 41, kind)
        poison(table, kind)
        if (before, after, count_wrong(torch, table, segments, 40, kind)) != (0, 1, 2000) or stale < 1900:
            raise RuntimeError(f"the check of results misses errors: {kind} {before} {after} {stale}")
