"""Calls of NCCL's own interface that torch.distributed does not expose, on PyTorch's libnccl.

Declarations as in nccl.h of 2.28; newer versions accept them as well.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

SUCCESS, IN_PROGRESS = 0, 7
INT32, SUM = 2, 0
_UNDEFINED = -(1 << 31)
_MAGIC, _VERSION = 0xCAFEBEEF, 22809
_POLL_S = 0.01


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]

    def to_bytes(self) -> bytes:
        return ctypes.string_at(ctypes.addressof(self), ctypes.sizeof(self))


class _Config(ctypes.Structure):
    """ncclConfig_t."""

    _fields_ = [("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint),
                *((name, ctypes.c_int) for name in ("blocking", "cga_cluster_size", "min_ctas", "max_ctas")),
                ("net_name", ctypes.c_char_p), ("split_share", ctypes.c_int), ("traffic_class", ctypes.c_int),
                ("comm_name", ctypes.c_char_p),
                *((name, ctypes.c_int) for name in ("collnet_enable", "cta_policy", "shrink_share", "nvls_ctas",
                                                    "channels_per_net_peer", "nvlink_centric_sched"))]

    def __init__(self, blocking: bool) -> None:
        undefined = {name: _UNDEFINED for name, kind in self._fields_ if kind is ctypes.c_int}
        super().__init__(size=ctypes.sizeof(_Config), magic=_MAGIC, version=_VERSION,
                         **(undefined | {"blocking": int(blocking)}))


class NcclError(RuntimeError):
    pass


def loaded_library(maps: str) -> str | None:
    """The path of libnccl in a text of /proc/self/maps."""
    for line in maps.splitlines():
        path = line.split(maxsplit=5)[-1]
        if "/libnccl.so" in path:
            return path
    return None


class Nccl:
    """PyTorch's libnccl: torch must have been imported."""

    def __init__(self) -> None:
        path = loaded_library(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"))
        if path is None:
            raise NcclError("no libnccl.so is loaded: this PyTorch has NCCL linked into itself, or has none")
        self._library = library = ctypes.CDLL(path)
        library.ncclGetErrorString.restype = ctypes.c_char_p
        library.ncclGetErrorString.argtypes = [ctypes.c_int]
        library.ncclGetLastError.restype = ctypes.c_char_p
        library.ncclGetLastError.argtypes = [ctypes.c_void_p]
        library.ncclGetUniqueId.argtypes = [ctypes.POINTER(UniqueId)]
        library.ncclCommInitRankConfig.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId,
                                                   ctypes.c_int, ctypes.POINTER(_Config)]
        library.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                          ctypes.c_void_p, ctypes.c_void_p]
        library.ncclCommGetAsyncError.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        for name in ("ncclCommAbort", "ncclCommDestroy"):
            getattr(library, name).argtypes = [ctypes.c_void_p]

    def text(self, code: int) -> str:
        return f"{code} ({self._library.ncclGetErrorString(code).decode(errors='replace')})"

    def _must(self, what: str, code: int, *fine: int) -> int:
        if code not in (SUCCESS, *fine):
            raise NcclError(f"{what}: {self.text(code)}: {self.last_error(None)}")
        return code

    def last_error(self, comm: Any) -> str:
        return (self._library.ncclGetLastError(comm) or b"").decode(errors="replace").strip()

    def unique_id(self) -> bytes:
        made = UniqueId()
        self._must("ncclGetUniqueId", self._library.ncclGetUniqueId(ctypes.byref(made)))
        return made.to_bytes()

    def communicator(self, ranks: int, unique_id: bytes, rank: int, blocking: bool, limit_s: float) -> Any:
        """Returns a communicator that is ready. A non-blocking one has limit_s to become so."""
        comm, config = ctypes.c_void_p(), _Config(blocking)
        code = self._library.ncclCommInitRankConfig(ctypes.byref(comm), ranks, UniqueId.from_buffer_copy(unique_id),
                                                    rank, ctypes.byref(config))
        self._must("ncclCommInitRankConfig", code, IN_PROGRESS)
        until = time.monotonic() + limit_s
        while (state := self.async_error(comm)) == IN_PROGRESS and time.monotonic() < until:
            time.sleep(_POLL_S)
        self._must("the state of a new communicator", state)
        return comm

    def all_reduce(self, comm: Any, address: int, elements: int, stream: int) -> int:
        """Adds int32 elements in place; the code tells whether it is enqueued (SUCCESS) or still starting."""
        code = self._library.ncclAllReduce(address, address, elements, INT32, SUM, comm, stream)
        return self._must("ncclAllReduce", code, IN_PROGRESS)

    def async_error(self, comm: Any) -> int:
        code = ctypes.c_int(SUCCESS)
        self._must("ncclCommGetAsyncError", self._library.ncclCommGetAsyncError(comm, ctypes.byref(code)))
        return code.value

    def abort(self, comm: Any) -> int:
        return int(self._library.ncclCommAbort(comm))

    def destroy(self, comm: Any) -> None:
        self._must("ncclCommDestroy", self._library.ncclCommDestroy(comm))
