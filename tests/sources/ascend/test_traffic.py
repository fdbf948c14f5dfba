# SPDX-License-Identifier: Apache-2.0
"""Traffic of memory, cache and links: counters of the timeline, files that sum them up, tables of the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.facts.observed import TrafficSample
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from advisor.sources.ascend.traffic import TRAFFIC_SAMPLES
from tests.sources.ascend.test_database_versions import Texts, database, rows_of
from tests.sources.ascend.test_text_versions import table
from tests.sources.traces import Json, captured, of

KEYS = ("place", "way", "unit", "time_ns", "speed_gbps", "hit_share")


def said(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(row[key] for key in KEYS) for row in rows]


def mb(number: float) -> object:
    """MB/s as msprof writes them, of 1024 × 1024 bytes, in GB/s."""
    return pytest.approx(number * 1.048576e-3)


def test_both_exports_say_the_same_of_one_sample(tmp_path: Path) -> None:
    """What a real database holds of 11 469.916 MB/s."""
    texts = Texts()
    row = {
        "deviceId": 0,
        "llcId": 0,
        "timestampNs": 9,
        "hitRate": 85.1,
        "throughput": 12027078639,
        "mode": texts["read"],
    }
    (stored,) = rows_of(TRAFFIC_SAMPLES, database(tmp_path, texts, LLC=[row]))
    (drawn,) = of(
        TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, [counter("LLC 0 Read/Throughput", "20", moved=11469.916)])
    )
    assert drawn["speed_gbps"] == pytest.approx(stored["speed_gbps"], rel=1e-9)


def counter(name: str, ts: str, **args: object) -> Json:
    spelled = {"read": "Read(MB/s)", "write": "Write(MB/s)", "moved": "Throughput(MB/s)", "hits": "Hit Rate(%)"}
    held = {spelled[key]: value for key, value in args.items()}
    return {"ph": "C", "name": name, "ts": ts, "pid": 7, "tid": 0, "args": held}


def test_counters_of_the_timeline_are_speeds_and_hit_rates_belong_to_their_moment(tmp_path: Path) -> None:
    events = [
        counter("HBM 0/Read", "10.5", read=1500.0),
        counter("HBM 0/Write", "10.5", write=500),
        counter("LLC 3 Read/Throughput", "20", moved=8000.0),
        counter("LLC 3 Read/Hit Rate", "20", hits=0.75),
        counter("LLC 3 Read/Throughput", "30", moved=4000.0),
        counter("LLC 4 Read/Hit Rate", "30", hits=0.25),
        counter("LLC 3 Write/Hit Rate", "30", hits=0.5),
    ]
    assert said(of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, events))) == [
        ("HBM", "read", 0, 10_500, mb(1500), None),
        ("HBM", "write", 0, 10_500, mb(500), None),
        ("LLC", "read", 3, 20_000, mb(8000), 0.75),
        ("LLC", "read", 3, 30_000, mb(4000), None),
    ]


@pytest.mark.parametrize("value", [None, "much", -1.0, float("nan")], ids=str)
def test_what_is_no_speed_is_left_out(value: object, tmp_path: Path) -> None:
    events = [counter("HBM 0/Read", "10", read=value), counter("HBM one/Read", "10", read=1.0)]
    with pytest.raises(FactMissing):
        of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, events))


def test_files_that_sum_up_hold_means_without_a_moment(tmp_path: Path) -> None:
    files = {
        "hbm": "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,0,1000,500\n0,1,3000,N/A\n0,Average,2000,500\n",
        "hccs": "Device_id,Mode,Max,Min,Average\n0,Tx(MB/s),9,0,2500\n0,Rx(MB/s),9,0,1500\n",
        "pcie": "Device_id,Mode,Min,Max,Avg\n0,Tx_p_avg(MB/s),0,9,100\n0,Tx_np_avg(MB/s),0,9,20\n"
        "0,Tx_cpl_avg(MB/s),0,9,3\n0,Tx_latency_avg(us),0,9,7777\n0,Rx_p_avg(MB/s),0,9,40\n",
    }
    assert said(of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, **files))) == [
        ("HBM", "read", 0, None, mb(1000), None),
        ("HBM", "read", 1, None, mb(3000), None),
        ("HBM", "write", 0, None, mb(500), None),
        ("HCCS", "received", None, None, mb(1500), None),
        ("HCCS", "sent", None, None, mb(2500), None),
        ("PCIe", "received", None, None, mb(40), None),
        ("PCIe", "sent", None, None, mb(123), None),
    ]


def test_the_row_that_sums_the_units_up_is_no_damage(tmp_path: Path) -> None:
    folder = captured(
        tmp_path,
        hbm="Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,1000,500\n0,0,1000,500\n",
        llc_read_write="Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)\n0,read,Average,50,1000\n0,read,0,50,1000\n",
    )
    assert len(of(TRAFFIC_SAMPLES.ways["text"], folder)) == 3
    assert not folder.notes.all()


@pytest.mark.parametrize(("first", "second"), [("84.5", "0"), ("0.845", "0.0")], ids=["per cent", "parts of one"])
def test_the_cache_is_summed_up_unit_by_unit_and_its_hits_in_either_unit(
    first: str, second: str, tmp_path: Path
) -> None:
    rows = f"0,read,Average,{first},4000\n0,read,0,{first},8000\n0,read,1,{second},0\n"
    file = f"Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)\n{rows}"
    assert said(of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, llc_read_write=file))) == [
        ("LLC", "read", 0, None, mb(8000), pytest.approx(0.845)),
        ("LLC", "read", 1, None, 0.0, 0.0),
    ]


def test_the_cache_of_the_timeline_comes_before_the_file_that_sums_it_up(tmp_path: Path) -> None:
    file = "Mode,Task,Hit Rate(%),Throughput(MB/s)\nread,0,84.5,8000\n"
    folder = captured(tmp_path, [counter("LLC 3 Read/Throughput", "20", moved=1000.0)], llc_read_write=file)
    assert said(of(TRAFFIC_SAMPLES.ways["text"], folder)) == [("LLC", "read", 3, 20_000, mb(1000), None)]


@pytest.mark.parametrize("spelled", ["value", "bandwidth(MB/s)"])
def test_classes_of_traffic_are_read_under_their_names(spelled: str, tmp_path: Path) -> None:
    events = [
        {"ph": "C", "name": name, "ts": "10", "pid": 7, "tid": 0, "args": {spelled: value}}
        for name, value in (
            ("QoS OTHERS", 3000),
            ("QoS AICPU", 20.5),
            ("QoS OTHERS", -1),
            ("QoS OTHERS", [1]),
            ("QoS ", 9),
        )
    ]
    assert said(of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, events))) == [
        ("QoS", "OTHERS", None, 10_000, mb(3000), None),
        ("QoS", "AICPU", None, 10_000, mb(20.5), None),
    ]


def test_the_table_of_classes_says_their_names(tmp_path: Path) -> None:
    texts = Texts()
    rows = [
        {"deviceId": 0, "eventName": texts["QoS OTHERS"], "bandwidth": 3_000_000_000, "timestampNs": 9},
        {"deviceId": 0, "eventName": texts["QoS OTHERS"], "bandwidth": -1, "timestampNs": 9},
        {"deviceId": 0, "eventName": None, "bandwidth": 7, "timestampNs": 9},
    ]
    assert said(rows_of(TRAFFIC_SAMPLES, database(tmp_path, texts, QOS=rows))) == [
        ("QoS", "OTHERS", None, 9, 3.0, None)
    ]


def test_a_mean_of_all_units_counts_where_no_unit_is_named(tmp_path: Path) -> None:
    file = table(
        "Device_id,Metric,Read(MB/s),Write(MB/s)", Metric="Average", **{"Read(MB/s)": "2000", "Write(MB/s)": "1"}
    )
    assert said(of(TRAFFIC_SAMPLES.ways["text"], captured(tmp_path, ddr=file))) == [
        ("DDR", "read", None, None, mb(2000), None),
        ("DDR", "write", None, None, mb(1), None),
    ]


def test_the_timeline_is_finer_than_the_file_of_the_same_place(tmp_path: Path) -> None:
    file = "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,0,777,777\n"
    folder = captured(tmp_path, [counter("HBM 0/Read", "10", read=1000.0)], hbm=file)
    assert said(of(TRAFFIC_SAMPLES.ways["text"], folder)) == [("HBM", "read", 0, 10_000, mb(1000), None)]


def test_files_are_read_where_the_timeline_cannot_be(tmp_path: Path) -> None:
    file = "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,0,1000,2000\n"
    folder = captured(tmp_path, [counter("HBM 0/Read", "10", read=777.0)], hbm=file)
    folder.files["trace_view.json"].write_text("no timeline", "utf-8")
    assert said(of(TRAFFIC_SAMPLES.ways["text"], folder)) == [
        ("HBM", "read", 0, None, mb(1000), None),
        ("HBM", "write", 0, None, mb(2000), None),
    ]


def test_tables_of_the_database_are_bytes_per_second(tmp_path: Path) -> None:
    texts = Texts()
    posted = {f"{start}{kind}Avg": 1e9 for start in ("tx", "rx") for kind in ("Post", "Nonpost", "Cpl")}
    folder = database(
        tmp_path,
        texts,
        HBM=[
            {"deviceId": 0, "timestampNs": 9, "bandwidth": 2e9, "hbmId": 1, "type": texts["read"]},
            {"deviceId": 0, "timestampNs": 9, "bandwidth": -1, "hbmId": 2, "type": texts["write"]},
        ],
        LLC=[{"deviceId": 0, "llcId": 4, "timestampNs": 8, "hitRate": 85.0, "throughput": 5e9, "mode": texts["read"]}],
        DDR=[{"deviceId": 0, "timestampNs": 7, "read": 1e9, "write": None}],
        HCCS=[{"deviceId": 0, "timestampNs": 6, "txThroughput": 3e9, "rxThroughput": 4e9}],
        PCIE=[{"deviceId": 0, "timestampNs": 5, **posted, "txNonpostLatencyAvg": 777}],
    )  # fmt: skip
    assert said(rows_of(TRAFFIC_SAMPLES, folder)) == [
        ("HBM", "read", 1, 9, 2.0, None),
        ("LLC", "read", 4, 8, 5.0, 0.85),
        ("DDR", "read", None, 7, 1.0, None),
        ("HCCS", "received", None, 6, 4.0, None),
        ("HCCS", "sent", None, 6, 3.0, None),
        ("PCIe", "received", None, 5, 3.0, None),
        ("PCIe", "sent", None, 5, 3.0, None),
    ]


def test_text_and_database_of_real_captures_count_the_same_units(real_data: Path) -> None:
    folder = real_data / "msinsight_pytorch_matrix"
    if not folder.is_dir():
        pytest.skip("these captures are not in the folder of real data")
    seen = {}
    for export in ("text", "db"):
        samples = open_input(folder / export / "level1")[1][0].read(TrafficSample).to_pandas()
        classes = samples["place"] == "QoS"  # databases of that time do not hold them
        assert {*samples["way"][classes]} == ({"OTHERS"} if export == "text" else set())
        samples = samples[~classes]
        seen[export] = set(zip(samples["place"], samples["way"], samples["unit"], strict=True))
        assert (samples["speed_gbps"] < 100).all()
        assert samples["hit_share"].dropna().between(0, 1).all()
    shared = {("HBM", way, unit) for way in ("read", "write") for unit in range(4)} | {("LLC", "read", 0)}
    assert shared <= seen["text"] & seen["db"]
