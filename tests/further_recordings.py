# SPDX-License-Identifier: Apache-2.0
"""What people record beside the usual: counters of kernels, network ports, traffic of memory and links, processors,
memory, storage and network of the host, tasks of AI CPUs, marks of attention calls."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing

from advisor.sources.shared.attention_words import ATTENTION_DOMAIN
from benchmarks.fuzz.captures import Files

PORTS = 4
READ, WRITTEN = "main_mem_read_bw(GB/s)", "main_mem_write_bw(GB/s)"
_COUNTED = {f"{core}_{way}": value for core in ("aic", "aiv") for way, value in ((READ, 100.5), (WRITTEN, 50.25))}
ATTENTION = json.dumps({"input_layout": "SBH", "sparse_mode": 0})
_PORTS = (
    "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),"
    "Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId"
)
_HOST = "Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)"
_MEMORY = "Device_id,Metric,Read(MB/s),Write(MB/s)"
_PROCESS = "Device_id,Total Memory(KB),Peak Used Memory(KB),Recommend Memory(KB)"
_STORAGE = "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),Recommend Disk Write(KB/s)"
_NETWORK = "Device_id,Netcard Speed(KB/s),Peak Used Speed(KB/s),Recommend Speed(KB/s)"
_LINKS = "Device_id,Mode,Max,Min,Average"
_CACHE = "Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)"
_TASKS = "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),Stream ID"


def record_further(files: Files, moment_us: int) -> Files:
    """The files of a capture with these beside, in its own export; what was sampled, was at this moment."""
    made: Files = dict(files)
    for name, held in files.items():
        folder, _, plain = name.rpartition("/")
        if plain == "kernel_details.csv":
            made[name] = _with_counters(held)
            made[f"{folder}/trace_view.json"] = _with_marks(files[f"{folder}/trace_view.json"])
            made |= {f"{folder}/{kind}.csv": text.encode() for kind, text in _tables(moment_us).items()}
        elif plain.startswith("ascend_pytorch_profiler") and plain.endswith(".db"):
            made[name] = _with_tables(held, moment_us)
    return made


def _with_counters(held: object) -> bytes:
    assert isinstance(held, bytes)
    heading, *rows = csv.reader(io.StringIO(held.decode("utf-8"), newline=""))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*heading, *_COUNTED])
    writer.writerows([*row, *_COUNTED.values()] for row in rows)
    return text.getvalue().encode()


def _with_marks(held: object) -> bytes:
    """A mark at the start of each module, on its thread."""
    assert isinstance(held, bytes)
    events = json.loads(held)
    modules = [event for event in events if event.get("args", {}).get("domain") == "Module"]
    args = {"event_type": "marker", "domain": ATTENTION_DOMAIN}
    marks = [{**event, "name": ATTENTION, "dur": 0, "args": args} for event in modules[::2]]
    return json.dumps(events + marks).encode()


def _tables(moment_us: int) -> dict[str, str]:
    ports = [f"0,{moment_us + port}.200\t,25000,40,77,0,0,10,77,0,0,{port}" for port in range(PORTS)]
    hosts = [f"host,Host Cpu,{user},20,5,0,0,{75 - user}" for user in range(50, 50 + PORTS)]
    tasks = [f"{moment_us + at}.5\t,Cast{at},100.5,1.5,110.5,2.5,115.5,2" for at in range(8)]
    memory = ["0,Average,1004.5,504.5", *(f"0,{unit},{1000 + unit}.5,{500 + unit}.5" for unit in range(8))]
    cache = ["0,read,Average,70,5000", *(f"0,read,{unit},{60 + unit},{5000 + unit}" for unit in range(4))]
    links = [f"0,{way}(MB/s),900,0,450.5" for way in ("Tx", "Rx")]
    tables = {
        "nic": (_PORTS, ports),
        "cpu_usage": (_HOST, hosts),
        "data_preprocess": (_TASKS, tasks),
        "hbm": (_MEMORY, memory),
        "llc_read_write": (_CACHE, cache),
        "hccs": (_LINKS, links),
        "host_mem_usage": (_PROCESS, ["host,1000000,250000,500000"]),
        "host_disk_usage": (_STORAGE, ["host,4000,3000,2000,1000"]),
        "host_network_usage": (_NETWORK, ["host,3000000,1500000,900000"]),
    }
    return {name: "\n".join([heading, *rows, ""]) for name, (heading, rows) in tables.items()}


def _with_tables(held: object, moment_us: int) -> bytes:
    assert isinstance(held, bytes)
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(held)
        named = _named(database, [name.partition("(")[0] for name in _COUNTED])
        flow, message, domain = _named(database, ["QoS OTHERS", ATTENTION, ATTENTION_DOMAIN])
        classes = [(0, flow, 5e9, moment_us * 1000 + at) for at in range(8)]
        _fill(database, "QOS", "deviceId,eventName,bandwidth,timestampNs", classes)
        tasks = [task for (task,) in database.execute("SELECT globalTaskId FROM COMPUTE_TASK_INFO")]
        counted = [(task, name, 100.5) for task in tasks for name in named]
        database.executemany("INSERT INTO TASK_PMU_INFO VALUES (?, ?, ?)", counted)
        moment = moment_us * 1000
        _fill(
            database,
            "NIC",
            "deviceId,timestampNs,bandwidth,rxPacketRate,rxByteRate,rxPackets,rxBytes,rxErrors,rxDropped,txPacketRate,"
            "txByteRate,txPackets,txBytes,txErrors,txDropped,funcId",
            [(0, moment + at, 25e9, 7, 10e9, 70 * at, 777, 0, 0, 7, 2.5e9, 80 * at, 777, 0, 0, 1) for at in range(8)],
        )
        moved = [(0, moment + at, 3e9, 4e9) for at in range(16)]
        _fill(database, "HCCS", "deviceId,timestampNs,txThroughput,rxThroughput", moved)
        _fill(
            database,
            "CPU_USAGE",
            "timestampNs,cpuId,usage",
            [(moment + at, str(cpu), 50.5) for at in range(4) for cpu in range(PORTS)],
        )
        for table, columns, cells in (
            ("HOST_MEM_USAGE", "timestampNs,usage", (25.0,)),
            ("HOST_DISK_USAGE", "timestampNs,readRate,writeRate,usage", (4096e3, 2048e3, 5.0)),
            ("HOST_NETWORK_USAGE", "timestampNs,usage,speed", (50.0, 1536e6)),
        ):
            _fill(database, table, columns, [(moment + at, *cells) for at in range(8)])
        database.execute(
            "INSERT INTO MSTX_EVENTS SELECT startNs, startNs, 0, rangeId, category, ?, globalTid, endGlobalTid, ?, "
            "connectionId FROM MSTX_EVENTS WHERE rowid % 2",
            (message, domain),
        )
        database.commit()
        return database.serialize()


def _named(database: sqlite3.Connection, texts: Sequence[str]) -> range:
    """The numbers under which these texts are kept from now on."""
    first = database.execute("SELECT max(id) + 1 FROM STRING_IDS").fetchone()[0]
    database.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(texts, first))
    return range(first, first + len(texts))


def _fill(database: sqlite3.Connection, table: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
    database.execute(f"CREATE TABLE {table} ({columns})")
    marks = ",".join("?" * len(columns.split(",")))
    database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
