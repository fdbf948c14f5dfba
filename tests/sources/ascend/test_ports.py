# SPDX-License-Identifier: Apache-2.0
"""Network ports of the device and processors of the host, as msprof's documentation describes files and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.facts.observed import HostCpu, PortCounters
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from advisor.sources.ascend.datasets import HOST_CPUS
from advisor.sources.ascend.ports import PORT_COUNTERS
from tests.sources.ascend.test_database_versions import Texts, database, rows_of
from tests.sources.ascend.test_text_versions import table
from tests.sources.traces import captured, of

PORTS = (
    "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),"
    "Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId"
)
CELLS = {
    "Device_id": "0", "Timestamp(us)": "1764246877079027.200\t", "Bandwidth(MB/s)": "25000",
    "Rx Bandwidth efficiency(%)": "40", "Tx Bandwidth efficiency(%)": "10", "funcId": "1",
}  # fmt: skip


CARRIED = {"bandwidth": 25_000, "received": 10_000, "sent": 2_500}
"""What these mean, in the MB/s of the file: of 1024 × 1024 bytes, as msprof makes bytes of them for the database."""


def told(row: dict[str, object]) -> dict[str, object]:
    """The cells of a row that are not missing."""
    return {name: value for name, value in row.items() if value is not None}


@pytest.mark.parametrize(("name", "network"), [("nic", "NIC"), ("roce", "RoCE")])
def test_a_file_of_ports_tells_how_busy_they_were(name: str, network: str, tmp_path: Path) -> None:
    (row,) = of(PORT_COUNTERS.ways["text"], captured(tmp_path, **{name: table(PORTS, **CELLS)}))
    assert told(row) == {
        "rank": 3, "network": network, "port": 1, "time_ns": 1764246877079027200,
        **{f"{way}_gbps": pytest.approx(mb * 1.048576e-3) for way, mb in CARRIED.items()},
    }  # fmt: skip


@pytest.mark.parametrize(("name", "network"), [("NIC", "NIC"), ("ROCE", "RoCE")])
def test_a_table_of_ports_counts_what_they_carried_and_lost(name: str, network: str, tmp_path: Path) -> None:
    sample = {
        "deviceId": 0, "timestampNs": 9, "bandwidth": 25_000_000_000, "rxPacketRate": 777, "rxByteRate": 10e9,
        "rxPackets": 1, "rxBytes": 777, "rxErrors": 4, "rxDropped": 16, "txPacketRate": 777, "txByteRate": 2.5e9,
        "txPackets": 2, "txBytes": 777, "txErrors": 8, "txDropped": 32, "funcId": 1,
    }  # fmt: skip
    (row,) = rows_of(PORT_COUNTERS, database(tmp_path, Texts(), **{name: [sample]}))
    assert told(row) == {
        "rank": 3, "network": network, "port": 1, "time_ns": 9, "bandwidth_gbps": 25.0, "received_gbps": 10.0,
        "sent_gbps": 2.5, "packets": 3.0, "broken": 12.0, "dropped": 48.0,
    }  # fmt: skip


def test_the_ports_of_a_device_together_count_what_was_sent_again(tmp_path: Path) -> None:
    sample = {
        "deviceId": 0, "timestampNs": 9, "macTxPfcPkt": 777, "macRxPfcPkt": 1, "macTxByte": 777,
        "macTxBandwidth": 3e9, "macRxByte": 777, "macRxBandwidth": 2e9, "macTxBadByte": 777, "macRxBadByte": 777,
        "roceTxPkt": 10, "roceRxPkt": 20, "roceTxErrPkt": 3, "roceRxErrPkt": 4, "roceTxCnpPkt": 777,
        "roceRxCnpPkt": 5, "roceNewPktRty": 6, "nicTxByte": 777, "nicTxBandwidth": 777, "nicRxByte": 777,
        "nicRxBandwidth": 777,
    }  # fmt: skip
    (row,) = rows_of(PORT_COUNTERS, database(tmp_path, Texts(), NETDEV_STATS=[sample]))
    assert told(row) == {
        "rank": 3, "network": "device", "time_ns": 9, "received_gbps": 2.0, "sent_gbps": 3.0, "packets": 30.0,
        "broken": 7.0, "congested": 5.0, "paused": 1.0, "repeated": 6.0,
    }  # fmt: skip


def test_without_ports_there_is_nothing_to_count(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(PORT_COUNTERS.ways["text"], captured(tmp_path))
    with pytest.raises(FactMissing):
        rows_of(PORT_COUNTERS, database(tmp_path, Texts(), NIC=[]))


LOAD = "Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)"


def test_the_load_of_the_host_is_told_from_that_of_the_device(tmp_path: Path) -> None:
    lines = [LOAD, "host,Host Cpu,50,20,5,0,0,25", "0,Ctrl Cpu,1,1,0,0,0,98"]
    (row,) = of(HOST_CPUS.ways["text"], captured(tmp_path, cpu_usage="\n".join(lines) + "\n"))
    assert told(row) == {"rank": 3, "busy_share": pytest.approx(0.7), "waiting_share": pytest.approx(0.05)}


def test_the_load_of_the_device_alone_tells_nothing_of_the_host(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(HOST_CPUS.ways["text"], captured(tmp_path, cpu_usage=f"{LOAD}\n0,Ctrl Cpu,1,1,0,0,0,98\n"))


@pytest.mark.parametrize("idle", ["9e99", "-5", "101"])
def test_a_load_that_cannot_be_is_left_out(idle: str, tmp_path: Path) -> None:
    lines = [LOAD, f"host,Host Cpu,50,20,{idle},0,0,{idle}", "host,Host Cpu,50,20,N/A,0,0,25"]
    (row,) = of(HOST_CPUS.ways["text"], captured(tmp_path, cpu_usage="\n".join(lines) + "\n"))
    assert told(row) == {"rank": 3, "busy_share": 0.75}
    with pytest.raises(FactMissing):
        of(HOST_CPUS.ways["text"], captured(tmp_path, cpu_usage="\n".join(lines[:2]) + "\n"))


def test_samples_of_each_processor_are_one_load(tmp_path: Path) -> None:
    samples = [
        {"timestampNs": at, "cpuId": at % 2, "usage": usage} for at, usage in enumerate((100.0, 50.0, 90.0, 40.0))
    ]
    (row,) = rows_of(HOST_CPUS, database(tmp_path, Texts(), CPU_USAGE=samples))
    assert told(row) == {"rank": 3, "cores": 2.0, "busy_share": pytest.approx(0.7)}


def test_files_of_msprof_with_a_time_in_their_names_are_found(tmp_path: Path) -> None:
    output = tmp_path / "PROF_000001_20251119092620336_GAOJ" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    kernels = "Op Name,OP Type,Task Start Time(us),Task Duration(us)\nk,Add,1764246877079027.200,2\n"
    files = {"op_summary": kernels, "roce": table(PORTS, **CELLS), "cpu_usage": f"{LOAD}\nhost,x,50,20,5,0,0,25\n"}
    for name, text in files.items():
        (output / f"{name}_20251119092700.csv").write_text(text)
    _, (source,) = open_input(tmp_path)
    assert source.read(PortCounters).texts("network").values() == ["RoCE"]
    assert source.read(HostCpu)["busy_share"].tolist() == pytest.approx([0.7])
