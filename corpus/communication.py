# SPDX-License-Identifier: Apache-2.0
"""communication.json and communication_matrix.json of one rank, as plain values. The database holds the same rows."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from corpus.events import Collective, RankTrace, Transfer
from corpus.export import Export
from corpus.planes import group_hash

_LARGE_BYTES = {"HCCS": 32_000_000, "RDMA": 500_000}
"""From which size on msprof calls a packet of a link large."""
_LINKS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
_TRANSPORT = {"ON_CHIP": "LOCAL", "HCCS": "HCCS", "ROCE": "RDMA"}
Document = dict[str, Any]


def by_step(trace: RankTrace, export: Export) -> dict[str, list[Collective]]:
    """The collectives of each step, under the name the files give the step."""
    found: dict[str, list[Collective]] = defaultdict(list)
    for collective in trace.collectives:
        found[f"step{collective.step}" if export.steps else "step"].append(collective)
    return found


def times_and_bandwidths(trace: RankTrace, export: Export) -> Document:
    """The content of communication.json."""
    document: Document = {}
    for step, collectives in by_step(trace, export).items():
        kinds: dict[str, Document] = {"p2p": {}, "collective": {}}
        for collective in collectives:
            name = f"{collective.name}@{group_hash(collective.group)}"
            kinds["p2p" if collective.p2p else "collective"][name] = _entry(collective, export)
        document[step] = {kind: _with_total(entries) for kind, entries in kinds.items()}
    return document


def _entry(collective: Collective, export: Export) -> Document:
    elapse = (collective.end - collective.start) / 1e6
    wait, transit = (0.0, 0.0) if export.all_idle else (collective.wait / 1e6, collective.transit / 1e6)
    return {
        "Communication Time Info": _times(export.device(collective.start) / 1000, elapse, transit, wait),
        "Communication Bandwidth Info": _bandwidths(collective),
    }


def _times(start_us: float, elapse: float, transit: float, wait: float) -> Document:
    ratio = round(wait / (wait + transit), 4) if wait + transit else 0
    return {
        "Start Timestamp(us)": start_us,
        "Elapse Time(ms)": elapse,
        "Transit Time(ms)": transit,
        "Wait Time(ms)": wait,
        "Synchronization Time(ms)": wait,
        "Idle Time(ms)": elapse - transit - wait,
        "Wait Time Ratio": ratio,
        "Synchronization Time Ratio": ratio,
    }


def _moved(collective: Collective) -> list[Transfer]:
    """What carried data: signals of four bytes do not count."""
    return [t for t in collective.transfers if t.link in _TRANSPORT and t.rdma in ("", "RDMA_SEND_PAYLOAD")]


def _bandwidths(collective: Collective) -> Document:
    found = dict.fromkeys(_LINKS, _link(0, 0) | {"Large Packet Ratio": 0, "Size Distribution": {}})
    for link in ("HCCS", "RDMA"):
        found[link] = _bandwidth(link, [t for t in _moved(collective) if _TRANSPORT[t.link] == link])
    found["SDMA"] = found["HCCS"] | {"Large Packet Ratio": 0, "Size Distribution": {}}
    return found


def _bandwidth(link: str, transfers: list[Transfer]) -> Document:
    sizes: dict[float, list[float]] = {}
    for transfer in transfers:
        count_and_time = sizes.setdefault(transfer.size / 1e6, [0, 0.0])
        count_and_time[0] += 1
        count_and_time[1] += transfer.transit / 1e6
    large = sum(count for size, (count, _) in sizes.items() if size * 1e6 >= _LARGE_BYTES[link])
    packets = sum(count for count, _ in sizes.values())
    ratio = round(large / packets, 4) if packets else 0
    moved = _link(sum(size * count for size, (count, _) in sizes.items()), sum(time for _, time in sizes.values()))
    return moved | {"Large Packet Ratio": ratio, "Size Distribution": {str(size): cell for size, cell in sizes.items()}}


def _link(size_mb: float, time_ms: float) -> Document:
    bandwidth = round(size_mb / time_ms, 4) if time_ms else 0
    return {"Transit Size(MB)": size_mb, "Transit Time(ms)": time_ms, "Bandwidth(GB/s)": bandwidth}


def _with_total(entries: Document) -> Document:
    if not entries:
        return entries
    times = [entry["Communication Time Info"] for entry in entries.values()]

    def total(field: str) -> float:
        return math.fsum(time[f"{field} Time(ms)"] for time in times)

    summed = _times(0, total("Elapse"), total("Transit"), total("Wait"))
    del summed["Start Timestamp(us)"]
    links: Document = {}
    for link in _LINKS:
        parts = [entry["Communication Bandwidth Info"][link] for entry in entries.values()]
        size = sum(part["Transit Size(MB)"] for part in parts)
        links[link] = _link(size, sum(part["Transit Time(ms)"] for part in parts))
        links[link] |= {"Large Packet Ratio": 0, "Size Distribution": _summed_sizes(parts)}
    total_info = {"Communication Time Info": summed, "Communication Bandwidth Info": links}
    return entries | {"Total Op Info": total_info}


def _summed_sizes(parts: list[Document]) -> Document:
    sizes: Document = {}
    for part in parts:
        for size, (count, time) in part["Size Distribution"].items():
            cell = sizes.setdefault(size, [0, 0.0])
            cell[0] += count
            cell[1] += time
    return sizes


def matrix(trace: RankTrace, export: Export) -> Document:
    """The content of communication_matrix.json: representatives and the sum of each kind of collective, per link."""
    document: Document = {}
    for step, collectives in by_step(trace, export).items():
        kinds: dict[str, Document] = {"p2p": {}, "collective": {}}
        groups: dict[tuple[bool, str, str], list[Collective]] = defaultdict(list)
        for collective in collectives:
            groups[collective.p2p, collective.op.lower(), group_hash(collective.group)].append(collective)
        for (p2p, op, group), members in groups.items():
            kinds["p2p" if p2p else "collective"] |= _representatives(op, group, members)
        document[step] = kinds
    return document


def matrix_of_operators(trace: RankTrace) -> Document:
    """The same as msprof tells it: of each operator, and no sums."""
    return {f"{one.name}@{group_hash(one.group)}": _links_of(one) for one in trace.collectives}


def _representatives(op: str, group: str, collectives: list[Collective]) -> Document:
    links: dict[str, list[Document]] = defaultdict(list)
    for collective in collectives:
        for pair, link in _links_of(collective).items():
            links[pair].append(link)
    found: Document = defaultdict(dict)
    for pair, measured in links.items():
        ranked = sorted(measured, key=lambda link: -link["Bandwidth(GB/s)"])
        places = {"top1": 0, "middle": len(ranked) // 2, "bottom1": -1, "bottom2": -2, "bottom3": -3}
        for name, place in places.items():
            if -len(ranked) <= place < len(ranked) and (name == "top1" or len(ranked) > abs(place)):
                found[f"{op}-{name}@{group}"][pair] = ranked[place]
        size = sum(link["Transit Size(MB)"] for link in measured)
        total = _link(size, sum(link["Transit Time(ms)"] for link in measured))
        found[f"{op}-total@{group}"][pair] = {"Transport Type": measured[0]["Transport Type"]} | total
    return dict(found)


def _links_of(collective: Collective) -> dict[str, Document]:
    moved: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for transfer in _moved(collective):
        cell = moved[f"{transfer.source}-{transfer.target}", _TRANSPORT[transfer.link]]
        cell[0] += transfer.size
        cell[1] += transfer.transit
    return {
        pair: {"Transport Type": transport} | _link(size / 1e6, time / 1e6) | {"Op Name": collective.name}
        for (pair, transport), (size, time) in moved.items()
    }
