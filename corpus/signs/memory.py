# SPDX-License-Identifier: Apache-2.0
"""Signs in the memory of devices and of the host: records of the allocator, of modules, and samples of msprof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.msprof import STAMP, write_msprof
from corpus.signs import Sign, Write
from corpus.signs.captures import Row, edit_rows, job, write


def _modules(**held_mb: float) -> Write:
    """A capture in which modules hold that much throughout.

    `APP` is what the program allocated for itself, the memory of the model: a module like the others, beside which HCCL
    keeps its buffers. In published captures all modules add up to the memory of the process but for 4 %.
    """

    def change(rows: list[Row]) -> None:
        names = {row["Component"] for row in rows}
        rows += [{**rows[0], "Component": name} for name in held_mb if name not in names]
        for row in rows:
            row["Total Reserved(MB)"] = str(held_mb.get(row["Component"], 0.0))

    def written(folder: Path) -> None:
        write(folder)
        edit_rows(folder, "npu_module_mem.csv", change)

    return written


def _allocator(reserved_mb: float, used_mb: float) -> Write:
    """A capture whose allocator reserves so much, and whose tensors hold so much of it at most: at one moment."""

    def change(rows: list[Row]) -> None:
        own = [row for row in rows if row["Component"].startswith("PTA")]
        for row in own:
            row["Total Reserved(MB)"] = str(reserved_mb)
        for row in own[len(own) // 2 :][:2]:
            row |= {"Total Allocated(MB)": str(used_mb - 10), "Total Active(MB)": str(used_mb)}
        for row in rows:
            if row["Component"] == "APP":
                row["Total Reserved(MB)"] = str(reserved_mb + 2048)

    def written(folder: Path) -> None:
        write(folder)
        edit_rows(folder, "memory_record.csv", change)

    return written


def _filled(share: float) -> Write:
    """A job whose host is slow, on devices of 64 GiB: what is left of the raw data tells 20 cores at 1800 MHz."""

    def change(rows: list[Row]) -> None:
        for row in rows:
            if row["Component"] == "APP":
                row["Total Reserved(MB)"] = str(share * 65536)

    def written(folder: Path) -> None:
        write(folder, "host-bound", raw=True)
        edit_rows(folder, "memory_record.csv", change)

    return written


_SYSTEM = (
    "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share Memory(kB),Commit Limit(kB),"
    "Committed AS(kB),Huge Pages Total(pages),Huge Pages Free(pages)\n"
)


def _host(*, free_kb: int, cached_kb: int) -> Write:
    """A recording of msprof that sampled the memory of a host of 1.024 TB, 45 GB of whose cache are shared memory."""

    def written(folder: Path) -> None:
        results = write_msprof(job("healthy-light"), folder)
        sampled = f"host,1000000000,{free_kb},5000000,{cached_kb},45000000,500000000,900000000,0,0\n"
        (results / f"sys_mem_{STAMP}.csv").write_text(_SYSTEM + sampled, encoding="utf-8")

    return written


SIGNS: Mapping[str, Sign] = {
    "memory/communication-buffers": Sign(  # sixteen communicators; the twin is above a tenth of what APP has alone
        spoiled=_modules(HCCL=6400.0, APP=25500.0, RUNTIME=100.0),
        twin=_modules(HCCL=4800.0, APP=43500.0, RUNTIME=100.0),
        shows={"hccl_share": 0.2, "process_bytes": 32000 * 2**20},
    ),
    "memory/fragmentation": Sign(
        spoiled=_allocator(reserved_mb=32768.0, used_mb=24576.0),
        twin=_allocator(reserved_mb=32768.0, used_mb=26624.0),
        shows={"unused_share": 0.25},
    ),
    "memory/unused-headroom": Sign(spoiled=_filled(0.5), twin=_filled(0.61), shows={"used_share": 0.5}),
    "memory/host-near-capacity": Sign(  # free + buffers + cache, but for the shared memory in it: 4 %, and 6 %
        spoiled=_host(free_kb=20_000_000, cached_kb=60_000_000),
        twin=_host(free_kb=20_000_000, cached_kb=80_000_000),
        shows={"held": 0.96, "memory": 1.024e12},
    ),
}
