# SPDX-License-Identifier: Apache-2.0
"""Memory, storage and network of the host, as msprof's documentation and source describe files, counters and tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.observed import HostCpu, HostUse
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from advisor.sources.ascend.datasets import HOST_CPUS
from advisor.sources.ascend.host_uses import HOST_USES
from tests.sources.ascend.test_database_versions import Texts, database, rows_of
from tests.sources.traces import Json, captured, event, of

PROCESS = "Device_id,Total Memory(KB),Peak Used Memory(KB),Recommend Memory(KB)\n"
STORAGE = "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),Recommend Disk Write(KB/s)\n"
NETWORK = "Device_id,Netcard Speed(KB/s),Peak Used Speed(KB/s),Recommend Speed(KB/s)\n"
SYSTEM = (
    "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share Memory(kB),Commit Limit(kB),"
    "Committed AS(kB),Huge Pages Total(pages),Huge Pages Free(pages)\n"
)
FILES = {
    "host_mem_usage": f"{PROCESS}host,1000000,250000.5,555\n",
    "host_disk_usage": f"{STORAGE}host,4000,555,2000,555\n",
    "host_network_usage": f"{NETWORK}host,3000000,1500000,555\n",
    "sys_mem": f"{SYSTEM}host,1000000,50000,20000,130000,100000,555,555,0,0\n",
}


def told(row: dict[str, object]) -> dict[str, object]:
    """The cells of a row that are not missing."""
    return {name: value for name, value in row.items() if value is not None}


def counter(name: str, ts: str, value: object) -> Json:
    return {"ph": "C", "name": name, "ts": ts, "pid": 7, "tid": 0, "args": {"Usage(%)": value}}


def test_files_that_sum_up_are_one_row(tmp_path: Path) -> None:
    (row,) = of(HOST_USES.ways["text"], captured(tmp_path, **FILES))
    assert told(row) == {
        "rank": 3, "memory_bytes": 1024e6, "memory_share": pytest.approx(0.9),
        "process_share": pytest.approx(0.2500005),
        "read_gbps": pytest.approx(0.004096), "written_gbps": pytest.approx(0.002048),
        "network_limit_gbps": pytest.approx(3.072), "network_gbps": pytest.approx(1.536),
    }  # fmt: skip


def test_files_of_old_versions_do_not_say_whose_rows_they_hold(tmp_path: Path) -> None:
    heading = PROCESS.removeprefix("Device_id,").replace(",", ", ")
    (row,) = of(HOST_USES.ways["text"], captured(tmp_path, host_mem_usage=f"{heading}1000,300,5\n"))
    assert told(row) == {"rank": 3, "memory_bytes": 1024e3, "process_share": pytest.approx(0.3)}


def test_the_memory_of_the_device_is_not_that_of_the_host(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(HOST_USES.ways["text"], captured(tmp_path, sys_mem=f"{SYSTEM}0,1000,1,1,1,1,1,1,0,0\n"))


def test_counters_of_the_timeline_are_peaks_and_the_mean_wait(tmp_path: Path) -> None:
    events = [
        *(counter("Memory Usage", f"{at}.5", value) for at, value in enumerate((10.0, 30.0, 20.0))),
        *(counter("Disk Usage", f"{at}.5", value) for at, value in enumerate((0.0, 90.0))),
        *(counter("Network Usage", f"{at}.5", value) for at, value in enumerate((150.0, 50.0))),
        *(counter(f"CPU {one}", "10.5", value) for one, value in (("0", 60.0), ("1", 20.0), ("Avg", 99.0))),
        event("k", "10.5"),
    ]
    folder = captured(tmp_path, events)
    (row,) = of(HOST_USES.ways["text"], folder)
    assert told(row) == {
        "rank": 3, "process_share": pytest.approx(0.3), "storage_wait_share": pytest.approx(0.45), "network_share": 1.5,
    }  # fmt: skip
    (load,) = of(HOST_CPUS.ways["text"], folder)
    assert told(load) == {"rank": 3, "cores": 2.0, "busy_share": pytest.approx(0.4)}


def test_samples_of_the_database_are_peaks_and_the_mean_wait(tmp_path: Path) -> None:
    held = {
        "HOST_MEM_USAGE": [{"timestampNs": 1, "usage": 10.0}, {"timestampNs": 2, "usage": 30.0}],
        "HOST_DISK_USAGE": [
            {"timestampNs": 1, "readRate": 4096e3, "writeRate": 0.0, "usage": 0.0},
            {"timestampNs": 2, "readRate": 0.0, "writeRate": 2048e3, "usage": 90.0},
        ],
        "HOST_NETWORK_USAGE": [{"timestampNs": 1, "usage": 150.0, "speed": 1536e6}],
    }
    (row,) = rows_of(HOST_USES, database(tmp_path, Texts(), **held))
    assert told(row) == {
        "rank": 3, "process_share": pytest.approx(0.3), "storage_wait_share": pytest.approx(0.45),
        "read_gbps": pytest.approx(0.004096), "written_gbps": pytest.approx(0.002048),
        "network_share": 1.5, "network_gbps": pytest.approx(1.536),
    }  # fmt: skip


DAMAGE = st.one_of(
    st.sampled_from(["", "N/A", "nan", "inf", "-1", "-inf", "1e400", "much", "0", "\0", "９"]), st.floats().map(str)
)
EXPECTED = {name for name, column in HostUse.columns().items() if column.store == "float"}


@given(st.lists(st.lists(DAMAGE, min_size=9, max_size=9), min_size=1, max_size=3))
def test_whatever_stands_in_the_cells_what_is_said_can_be(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    headings = {"host_mem_usage": PROCESS, "host_disk_usage": STORAGE, "host_network_usage": NETWORK, "sys_mem": SYSTEM}
    files = {
        name: heading + "".join(f"host,{','.join(row[: heading.count(',')])}\n" for row in rows)
        for name, heading in headings.items()
    }
    events = [counter(name, "5.5", row[0]) for row in rows for name in ("Memory Usage", "Disk Usage", "Network Usage")]
    folder = captured(tmp_path_factory.mktemp("capture"), events, **files)
    try:
        (row,) = of(HOST_USES.ways["text"], folder)
    except FactMissing:
        return
    values = {name: value for name, value in told(row).items() if name in EXPECTED}
    assert all(isinstance(value, float) and 0 <= value < float("inf") for value in values.values())
    assert all(value <= 1 for name, value in values.items() if name in ("memory_share", "process_share"))


@pytest.mark.parametrize("value", [None, "much", -1.0, float("nan"), 101.0], ids=str)
def test_what_is_no_share_is_left_out(value: object, tmp_path: Path) -> None:
    folder = captured(tmp_path, [counter("Memory Usage", "10", value), counter("Disk Usage", "10", value)])
    with pytest.raises(FactMissing):
        of(HOST_USES.ways["text"], folder)
    sample = {"timestampNs": 1, "usage": value}
    with pytest.raises(FactMissing):
        rows_of(HOST_USES, database(tmp_path, Texts(), HOST_MEM_USAGE=[sample]))


def test_files_of_msprof_with_a_time_in_their_names_are_found(tmp_path: Path) -> None:
    output = tmp_path / "PROF_000001_20251119092620336_GAOJ" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20251119092700.csv").write_text(
        "Op Name,OP Type,Task Start Time(us),Task Duration(us)\nk,Add,1764246877079027.200,2\n"
    )
    for name, text in FILES.items():
        (output / f"{name}_20251119092700.csv").write_text(text)
    _, (source,) = open_input(tmp_path)
    assert source.read(HostUse)["memory_share"].tolist() == pytest.approx([0.9])
    with pytest.raises(FactMissing):
        source.read(HostCpu)
