"""Unpacks a Linux kernel from the compressed image (bzImage) that distributions ship.

Where an emulated processor would unpack it, at each start of each guest, that is done once, on the host. QEMU starts
what comes out as it would start a Xen guest (PVH), if a note in the kernel allows it. The image's fields:
Documentation/arch/x86/boot.rst in Linux.
"""

from __future__ import annotations

import lzma
import struct
import zlib

_SETUP_SECTORS, _MAGIC, _VERSION, _PAYLOAD = 0x1F1, 0x202, 0x206, 0x248
_SECTOR_BYTES = 512
_PAYLOAD_SINCE = 0x0208
# Of the section .note: length of the name, length of the description, type (XEN_ELFNOTE_PHYS32_ENTRY), the name.
_PVH_NOTES = tuple(struct.pack("<III4s", 4, size, 18, b"Xen\0") for size in (4, 8))


def _payload(image: bytes) -> bytes:
    """The kernel, still compressed; empty if the file is no such image."""
    if len(image) < _PAYLOAD + 8 or image[_MAGIC:_MAGIC + 4] != b"HdrS":
        return b""
    if struct.unpack_from("<H", image, _VERSION)[0] < _PAYLOAD_SINCE:
        return b""
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    begin = (1 + (image[_SETUP_SECTORS] or 4)) * _SECTOR_BYTES + offset
    return image[begin:begin + length]


def _unpacked(payload: bytes) -> bytes:
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    return b""


def startable_kernel(image: bytes) -> bytes:
    """The kernel inside the image; the image itself if it cannot be unpacked, or if its kernel cannot be started
    directly."""
    try:
        kernel = _unpacked(_payload(image))
    except (lzma.LZMAError, zlib.error):
        return image
    return kernel if any(note in kernel for note in _PVH_NOTES) else image
