# SPDX-License-Identifier: Apache-2.0
"""What the files of a capture say, read with csv, json and sqlite3 alone: the second witness of every figure.

Nothing of the package is imported. Times are whole nanoseconds and µs as the files give them; `None` is not recorded.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from bisect import bisect_right
from collections.abc import Container
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

PAIR_OF_RANKS = re.compile(r"(\d+)-(\d+)")
COLLECTIVE = re.compile(r"hcom_([A-Za-z]+?)_*__")
NONE_LINKED = 4294967295


class Kernel(NamedTuple):
    """A row of computation."""

    step: int | None
    name: str
    op_type: str
    shapes: str
    start: int
    end: int


class Call(NamedTuple):
    """A communication operator; parts of its time in µs."""

    step: int | None
    name: str
    group: str | None
    start: int
    end: int
    transit: float | None = None
    wait: float | None = None
    idle: float | None = None

    @property
    def op(self) -> str:
        """Kind of operator, in the spelling of its name."""
        found = COLLECTIVE.match(self.name)
        return found[1] if found else self.name

    @property
    def p2p(self) -> bool:
        """Whether it goes from one rank to another."""
        return self.op.lower() in ("send", "receive", "batchsendrecv")


class Packets(NamedTuple):
    """Packets of one size that a call moved over one kind of link."""

    step: int | None
    call: str
    link: str
    size: int
    number: float
    us: float


class Way(NamedTuple):
    """What all calls of one kind moved from one member of a group to another in one step."""

    step: int | None
    op: str
    group: str
    source: int
    target: int
    link: str
    size: float
    us: float


class Rank(NamedTuple):
    """All of one rank."""

    number: int
    kernels: list[Kernel]
    calls: list[Call]
    packets: list[Packets]
    ways: list[Way]
    sums: dict[int | None, dict[str, float]]
    """Per step the sums of the profiler: computing, exposed, overlapped, communication, free; µs."""
    copies: list[tuple[int, int]] | None
    """Intervals of memory copies on the device; None without a timeline."""
    waits: list[tuple[int, int]] | None
    """Intervals in which a stream waited for an event."""
    launched: list[int]
    """Starts of the kernels, collectives and copies that a host call launched; none without a timeline."""


def without_steps(ranks: list[Rank], left_out: Container[int | None]) -> list[Rank]:
    """The same where nothing of these steps counts."""
    return [
        rank._replace(
            kernels=[row for row in rank.kernels if row.step not in left_out],
            calls=[row for row in rank.calls if row.step not in left_out],
        )
        for rank in ranks
    ]


def read_capture(folder: Path) -> list[Rank]:
    """Every rank of a folder, in order of their numbers."""
    found = []
    for output in sorted(folder.rglob("ASCEND_PROFILER_OUTPUT")):
        number = max(
            (int(re.sub(r"\D", "", info.stem)) for info in output.parent.glob("profiler_info_*.json")), default=0
        )
        databases = sorted(output.glob("ascend_pytorch_profiler*.db"))
        found.append(_rank_of_database(number, databases[0]) if databases else _rank_of_text(number, output))
    return sorted(found)


def read_members(folder: Path) -> dict[str, list[int]]:
    """The ranks of each communicator, by the number that files name it with."""
    found = {}
    for path in folder.rglob("profiler_metadata.json"):
        for name, group in json.loads(path.read_bytes()).get("parallel_group_info", {}).items():
            found[_communicator_number(name)] = group["global_ranks"]
    return found


def _communicator_number(name: str) -> str:
    """Two polynomials over the letters, modulo 2^32, side by side."""
    high, low = (sum(ord(c) * base**i for i, c in enumerate(reversed(name))) % 2**32 for base in (29, 131))
    return str(high * 2**32 + low)


def _nanoseconds(text: str) -> int:
    return int(Decimal(text.strip()) * 1000)


def _step_of(text: str) -> int | None:
    digits = re.sub(r"\D", "", text)
    return int(digits) if digits else None


def _rank_of_text(number: int, output: Path) -> Rank:
    kernels, calls = _rows_of_details(output / "kernel_details.csv")
    spent = _entries(output / "communication.json")
    copies, waits, launched, known = _read_timeline(output / "trace_view.json")
    calls = [_with_times(call, spent, known) for call in calls]
    return Rank(
        number,
        kernels,
        calls,
        [row for step, name, _, content in spent for row in _packets_of(step, name, content)],
        _ways_of(_entries(output / "communication_matrix.json")),
        _sums_of_text(output / "step_trace_time.csv"),
        copies,
        waits,
        launched,
    )


def _rows_of_details(path: Path) -> tuple[list[Kernel], list[Call]]:
    kernels, calls = [], []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            step, name, kind = _step_of(row["Step Id"]), row["Name"], row["Type"]
            start = _nanoseconds(row["Start Time(us)"])
            end = start + round(Decimal(row["Duration(us)"]) * 1000)
            if name.startswith("hcom_"):
                calls.append(Call(step, name, None, start, end))
            else:
                shapes = row.get("Input Shapes", "").strip('"')
                kernels.append(Kernel(step, name, kind, shapes, start, end))
    return kernels, calls


_Entry = tuple[int | None, str, str, Any]


def _entries(path: Path) -> list[_Entry]:
    """Step, name, group and content of each entry, sums over all left out; none without the file."""
    if not path.exists():
        return []
    found = []
    for step, kinds in json.loads(path.read_bytes()).items():
        for operators in kinds.values():
            for key, content in operators.items():
                name, _, group = key.rpartition("@")
                if key != "Total Op Info":
                    found.append((_step_of(step), name, group, content))
    return found


def _with_times(call: Call, spent: list[_Entry], known: dict[str, list[int]]) -> Call:
    """With the parts of its time, and with the start of the timeline, which rounds where the table cuts off."""
    near = [start for start in known.get(call.name, []) if abs(start - call.start) <= 1]
    begin = near[0] if near else call.start
    call = call._replace(start=begin, end=begin + call.end - call.start)
    for step, name, group, content in spent:
        if (step, name) == (call.step, call.name):
            times = content["Communication Time Info"]
            transit, wait, idle = (1e3 * times[f"{part} Time(ms)"] for part in ("Transit", "Wait", "Idle"))
            return call._replace(group=group, transit=transit, wait=wait, idle=idle)
    return call


def _packets_of(step: int | None, name: str, content: Any) -> list[Packets]:
    links = content["Communication Bandwidth Info"].items()
    return [
        Packets(step, name, link, round(float(size) * 1e6), count, ms * 1e3)
        for link, info in links
        if link != "SDMA"  # the sum of HCCS, PCIE and SIO
        for size, (count, ms) in info["Size Distribution"].items()
    ]


def _ways_of(entries: list[_Entry]) -> list[Way]:
    """The totals of each kind of operator, copies inside a chip left out."""
    found = []
    for step, name, group, pairs in entries:
        op, _, which = name.rpartition("-")
        for key, content in pairs.items():
            pair = PAIR_OF_RANKS.fullmatch(key)
            if which == "total" and pair and content["Transport Type"] != "LOCAL":
                size, ms = content["Transit Size(MB)"], content["Transit Time(ms)"]
                ends = int(pair[1]), int(pair[2])
                found.append(Way(step, op, group, *ends, content["Transport Type"], size * 1e6, ms * 1e3))
    return found


SUMS = {
    "computing": "Computing",
    "communication_not_overlapped": "Communication(Not Overlapped)",
    "overlapped": "Overlapped",
    "communication": "Communication",
    "free": "Free",
    "bubble": "Bubble",
}


def _sums_of_text(path: Path) -> dict[int | None, dict[str, float]]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            _step_of(row["Step"]): {name: float(row[title]) for name, title in SUMS.items()}
            for row in csv.DictReader(file)
        }


_Intervals = list[tuple[int, int]]


def _read_timeline(path: Path) -> tuple[_Intervals | None, _Intervals | None, list[int], dict[str, list[int]]]:
    """Copies, waits, when launched tasks started, and when each collective did."""
    if not path.exists():
        return None, None, [], {}
    events = json.loads(path.read_bytes())
    lanes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    spans = [event for event in events if event["ph"] == "X"]
    device = [event for event in spans if lanes.get(event["pid"]) == "Ascend Hardware"]
    copied = [event for event in device if event["name"].startswith("MEMCPY")]
    waits = [_interval(event) for event in device if event["name"] in ("EVENT_WAIT", "NOTIFY_WAIT")]
    linked = {
        (event["pid"], event["tid"], event["ts"])
        for event in events
        if event["ph"] == "f" and event["cat"] == "HostToDevice"
    }
    kernels = [event for event in device if not re.fullmatch(r"[A-Z_]+|Notify Wait|Write Value", event["name"])]
    talk = [event for event in spans if event["name"].startswith("hcom_") and lanes.get(event["pid"]) != "CANN"]
    tasks = [event for event in (*kernels, *copied, *talk) if (event["pid"], event["tid"], event["ts"]) in linked]
    starts: dict[str, list[int]] = {}
    for event in talk:
        starts.setdefault(event["name"], []).append(_nanoseconds(event["ts"]))
    return [_interval(event) for event in copied], waits, [_nanoseconds(event["ts"]) for event in tasks], starts


def _interval(event: Any) -> tuple[int, int]:
    start = _nanoseconds(event["ts"])
    return start, start + round(event["dur"] * 1000)


def _rank_of_database(number: int, path: Path) -> Rank:
    analysis = path.with_name("analysis.db")
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        step_of = _steps_of_launches(database)
        kernels = [
            Kernel(step_of(link), texts[name], texts[kind], texts[shapes].strip('"'), start, end)
            for name, kind, shapes, start, end, link in database.execute(
                "SELECT c.name, c.opType, c.inputShapes, t.startNs, t.endNs, t.connectionId FROM COMPUTE_TASK_INFO c "
                "JOIN TASK t ON t.globalTaskId = c.globalTaskId ORDER BY t.startNs"
            )
        ]
        rows = database.execute("SELECT opName, startNs, endNs, connectionId FROM COMMUNICATION_OP ORDER BY startNs")
        calls = [Call(step_of(link), texts[name], None, start, end) for name, start, end, link in rows]
        tasks = [
            (texts[kind], *times) for kind, *times in database.execute("SELECT taskType, startNs, endNs FROM TASK")
        ]
        launched = _launched_tasks(database, texts)
    spent, moved, matrix, sums = _read_analysis(analysis)
    return Rank(
        number,
        kernels,
        [_with_analysed_times(call, spent) for call in calls],
        moved,
        matrix,
        sums,
        [(start, end) for kind, start, end in tasks if kind.startswith("MEMCPY")],
        [(start, end) for kind, start, end in tasks if kind == "EVENT_WAIT"],
        launched,
    )


def _steps_of_launches(database: sqlite3.Connection) -> Any:
    """A function from the connection of a task to the step in which the framework asked for it."""
    windows = sorted(database.execute("SELECT startNs, endNs, id FROM STEP_TIME"))
    asked = dict(database.execute("SELECT connectionId, startNs FROM CANN_API"))
    operators = "SELECT k.connectionId, min(CAST(p.startNs AS INTEGER)) FROM PYTORCH_API p JOIN CONNECTION_IDS k ON "
    asked |= dict(database.execute(operators + "k.id = p.connectionId WHERE p.type = 50001 GROUP BY 1"))

    def step(connection: int) -> int | None:
        place = bisect_right(windows, (asked.get(connection, -1), 1 << 63, 0)) - 1
        return windows[place][2] if place >= 0 else None

    return step


def _launched_tasks(database: sqlite3.Connection, texts: dict[int, str]) -> list[int]:
    linked = {link for (link,) in database.execute("SELECT connectionId FROM CANN_API")} - {NONE_LINKED}
    kernels = "SELECT t.startNs, t.connectionId FROM TASK t JOIN COMPUTE_TASK_INFO c ON c.globalTaskId = t.globalTaskId"
    copies = {i for i, text in texts.items() if text.startswith("MEMCPY")}
    tasks = database.execute("SELECT startNs, connectionId, taskType FROM TASK")
    found = [*database.execute(kernels), *((start, link) for start, link, kind in tasks if kind in copies)]
    found += database.execute("SELECT startNs, connectionId FROM COMMUNICATION_OP")
    return [start for start, link in found if link in linked]


_Times = dict[tuple[int | None, str], tuple[str, float, float, float]]


def _read_analysis(path: Path) -> tuple[_Times, list[Packets], list[Way], dict[int | None, dict[str, float]]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        there = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        names = ", ".join(SUMS)
        sums = {
            _step_of(step): dict(zip(SUMS, values, strict=True))
            for step, *values in database.execute(f"SELECT step, {names} FROM StepTraceTime")
        }
        if "CommAnalyzerTime" not in there:
            return {}, [], [], sums
        times = {
            (_step_of(step), name): (group, 1e3 * transit, 1e3 * wait, 1e3 * idle)
            for step, name, group, transit, wait, idle in database.execute(
                "SELECT step, hccl_op_name, group_name, transit_time, wait_time, idle_time FROM CommAnalyzerTime"
            )
        }
        packets = [
            Packets(_step_of(step), name, link, round(size * 1e6), count, us * 1e3)
            for step, name, link, size, count, us in database.execute(
                "SELECT step, hccl_op_name, transport_type, package_size, count, total_duration "
                "FROM CommAnalyzerBandwidth WHERE transport_type != 'SDMA' AND count > 0"
            )
        ]
        ways = [
            Way(_step_of(step), op.removesuffix("-total"), group, int(a), int(b), link, size * 1e6, ms * 1e3)
            for step, op, group, a, b, link, size, ms in database.execute(
                "SELECT step, hccl_op_name, group_name, src_rank, dst_rank, transport_type, transit_size, transit_time "
                "FROM CommAnalyzerMatrix WHERE hccl_op_name LIKE '%-total' AND transport_type != 'LOCAL'"
            )
        ]
    return times, packets, ways, sums


def _with_analysed_times(call: Call, spent: _Times) -> Call:
    known = spent.get((call.step, call.name))
    return call if known is None else call._replace(group=known[0], transit=known[1], wait=known[2], idle=known[3])
