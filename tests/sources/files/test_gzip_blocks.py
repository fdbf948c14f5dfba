# SPDX-License-Identifier: Apache-2.0
"""What is packed comes out as far as it goes, and what it ends over is told apart."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest

from advisor.sources.files.gzip_blocks import damage_of_packed, inflate_blocks

TEXT = " ".join(str(n * n) for n in range(20_000)).encode()


def unpack(packed: bytes) -> tuple[bytes, str]:
    """What comes out, and the code of what is wrong."""
    out = b""
    try:
        for block in inflate_blocks(io.BytesIO(packed)):
            out += block
    except (EOFError, zlib.error) as wrong:
        return out, damage_of_packed(wrong).code
    return out, ""


def test_what_is_whole_comes_out_whole() -> None:
    assert unpack(gzip.compress(TEXT)) == (TEXT, "")


def test_what_is_cut_off_ends_early() -> None:
    out, code = unpack(gzip.compress(TEXT)[:9_000])
    assert TEXT.startswith(out)
    assert len(out) > 10_000
    assert code == "ends_early"


def test_what_is_damaged_in_its_middle_does_not_end_early_and_keeps_what_came_before() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[9_000:9_064] = b"\xff" * 64
    out, code = unpack(packed)
    assert TEXT[:10_000] == out[:10_000]
    assert code == "packed_damaged"


@pytest.mark.parametrize("at", [-6, -2])
def test_a_wrong_checksum_alone_loses_nothing(at: int) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[at] ^= 1
    assert unpack(packed) == (TEXT, "checksum_wrong")
