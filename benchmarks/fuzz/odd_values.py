# SPDX-License-Identifier: Apache-2.0
"""Values that nobody expects in the place of another one."""

from __future__ import annotations

from random import Random

NUMBERS = (
    "nan", "NaN", "inf", "-inf", "Infinity", "-Infinity", "1e308", "-1e308", "1e400", "1e31", "1e-320",
    "-1", "-0.0",
    "0", "0.5", "1e15", "9" * 30, "9" * 400, "9223372036854775807", "-9223372036854775808",
    "18446744073709551616",
    "4294967296", "1_000", "1,5", "0x10", "１２", "٣", "+7", "1e", "--1", "1735689600000000.125",
)  # fmt: skip
"""As they stand in a text; not all of them are numbers to everybody."""
WORDS = (
    "", " ", "\t", "N/A", "NA", "None", "null", "true", "\0", '"', '""', "'", "名字", "é", "\ufeff",
    "\u2028", "\x1b[31m",
    "::error::x", "<script>", "`|*_", "{name}", "%s", "../../etc/passwd", "=1+1", "\ud800", "a" * 20_000,
    "\\", "\r", ",",
    "hcom_allReduce__000_0_1", "ProfilerStep#1", "AI_CORE", "HCCL", "total_op_info",
)  # fmt: skip


def odd_text(chance: Random) -> str:
    """A number or a word."""
    return chance.choice(NUMBERS if chance.random() < 0.6 else WORDS)
