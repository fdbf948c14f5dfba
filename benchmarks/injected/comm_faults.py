# SPDX-License-Identifier: Apache-2.0
"""Faults of the communication: it starts late, takes long, or is cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

from benchmarks.injected.balance import set_moved
from benchmarks.injected.faults import TALK, Fault, Run, collectives_of
from benchmarks.injected.program import Collective, Moment

_BANDWIDTHS = "Communication Bandwidth Info"


def _by_step(run: Run) -> list[list[list[Collective]]]:
    """The meetings of each step."""
    begins = [step.begin.at for step in run.job.ranks[0].steps]
    found: list[list[list[Collective]]] = [[] for _ in begins]
    for meeting in collectives_of(run):
        place = sum(begin <= meeting[0].begin.at for begin in begins) - 1
        found[max(place, 0)].append(meeting)
    return found


def _lengthen(meeting: Sequence[Collective], extra: float) -> None:
    for collective in meeting:
        moved = next(lag for other, lag in collective.end.waits if other is collective.begin)
        set_moved(meeting, collective, round(moved + extra))


def overlong(run: Run, amount: float) -> None:
    """One collective of each step stands idle for long."""
    for meetings in _by_step(run):
        if meetings:
            _lengthen(meetings[-1], amount)


def one_overlong(run: Run, amount: float) -> None:
    """One collective of one step stands idle for long."""
    steps = _by_step(run)
    _lengthen(steps[len(steps) // 2][-1], amount * len(steps))


def slower_transfers(run: Run, amount: float) -> None:
    """Transfers of all links take longer."""
    _slow(run, amount)


def _slow(run: Run, amount: float) -> None:
    """Slows all transfers down so that they take this much longer per step."""
    for collective, factor in _lengthen_transfers(run, amount):
        collective.slower = factor


def _lengthen_transfers(run: Run, amount: float) -> Iterator[tuple[Collective, float]]:
    """Each collective, made longer by its part of so much per step, and by which factor its transfer grew."""
    for meetings in _by_step(run):
        moving = [_transit(meeting[0]) for meeting in meetings]
        factor = 1 + amount / max(sum(moving), 1)
        for meeting, moved in zip(meetings, moving, strict=True):
            _lengthen(meeting, moved * (factor - 1))
            for collective in meeting:
                yield collective, factor


def _transit(collective: Collective) -> float:
    times = (collective.entry or {}).get("Communication Time Info", {})
    return float(times.get("Transit Time(ms)") or 0) * 1e6 or collective.moved


def one_slow_transfer(run: Run, amount: float) -> None:
    """The data of one collective of each step move slowly."""
    for meetings in _by_step(run):
        if meetings:
            factor = 1 + amount / max(_transit(meetings[-1][0]), 1)
            _lengthen(meetings[-1], amount)
            for collective in meetings[-1]:
                collective.slower = factor


def slow_link(run: Run, amount: float) -> None:
    """The link between the first two ranks is slow, and every collective takes as long as it."""
    for collective, factor in _lengthen_transfers(run, amount):
        collective.links = {"0-1": factor, "1-0": factor}
        times = (collective.entry or {}).get("Communication Time Info", {})
        times["Transit Time(ms)"] = float(times.get("Transit Time(ms)") or 0) * factor


def small_packets(run: Run, amount: float) -> None:
    """What went in large packets goes in small ones, and slower."""
    _slow(run, amount)
    for collective in (one for meeting in run.job.meetings for one in meeting):
        for link in (collective.entry or {}).get(_BANDWIDTHS, {}).values():
            sizes = link.get("Size Distribution", {})
            if sizes:
                moved = sum(float(size) * cells[0] for size, cells in sizes.items())
                time = sum(cells[1] for cells in sizes.values())
                link["Size Distribution"] = {"0.131072": [max(round(moved / 0.131072), 1), time]}
                link["Large Packet Ratio"] = 0.0


def reduction_at_the_end(run: Run, amount: float) -> None:
    """Gradients are reduced when the backward pass has ended."""
    for meetings in _by_step(run):
        for meeting in meetings:
            for collective in meeting:
                _after_backward(run, collective)


def _after_backward(run: Run, collective: Collective) -> None:
    """Lets a collective wait for the last kernel that does not wait for any of its step."""
    rank = next(rank for rank in run.job.ranks if any(task is collective for task in rank.tasks))
    step = max((s for s in rank.steps if s.begin.at <= collective.begin.at), key=lambda s: s.begin.at)
    end = step.end.at
    backward = [
        call
        for call in rank.calls
        if call.lane is not rank.main
        and step.begin.at <= call.begin.at <= end
        and call.name.startswith("autograd::engine")
        and "AccumulateGrad" in call.name
    ]
    if not backward:
        return
    last = max(call.begin.at for call in backward)
    sent = [
        task for task in rank.kernels
        if task.launch and step.begin.at <= task.begin.at <= step.end.at and task.launch.begin.at <= last
    ]  # fmt: skip
    if sent:
        collective.begin.waits.append((max(sent, key=lambda task: task.begin.at).end, 2_000))


def many_collectives(run: Run, amount: float) -> None:
    """Every gradient is reduced by itself: many collectives of 25 µs behind the last of each step."""
    pieces = max(round(amount / 25_000), 1)
    for meetings in _by_step(run):
        if meetings:
            for number in range(pieces):
                _add_meeting(run, meetings[-1], number)


def _add_meeting(run: Run, like: Sequence[Collective], number: int) -> None:
    made = []
    for rank in run.job.ranks:
        source = next((c for c in like if any(task is c for task in rank.tasks)), None)
        if source is None:
            continue
        changes = next(c for c in run.ranks if c.rank is rank)
        begin, end = Moment(work=1_500), Moment()
        source.lane.insert(source.end, begin, end)
        name = _renamed(source.name, number)
        args = source.event["args"] | {"count": 4096, "connection_id": changes.number(0)}
        event = source.event | {"name": name, "args": args}
        entry = _small(source)
        row = (source.row or {}) | {"Name": name}
        collective = Collective(begin, end, event, source.lane, "collective", None, [], row, [], entry)
        made.append(collective)
        rank.tasks.append(collective)
        following = [task for task in rank.tasks if task.kind == "wait" and _waits_for(task.end, source)]
        for task in following:
            task.end.waits.append((end, 1_000))
    for collective in made:
        collective.moved = 25_000
        collective.end.waits = [(other.begin, 25_000) for other in made]
    run.job.meetings.append(made)


def _waits_for(moment: Moment, source: Collective) -> bool:
    """Whether a moment waits for a collective, or for the mark behind it."""
    for other, _ in moment.waits:
        before: Moment | None = other
        for _ in range(8):
            if before is source.end:
                return True
            before = before.before if before is not None else None
    return False


def _renamed(name: str, number: int) -> str:
    head, _, tail = name.rpartition("_")
    group, _, place = head.rpartition("_")
    return f"{group}_{9000 + int(place) * 1000 + number}_{tail}"


def _small(source: Collective) -> dict[str, object] | None:
    if source.entry is None:
        return None
    entry = deepcopy(source.entry)
    entry["Communication Time Info"] |= {
        "Transit Time(ms)": 0.008, "Wait Time(ms)": 0.0, "Synchronization Time(ms)": 0.0,
    }  # fmt: skip
    for link in entry[_BANDWIDTHS].values():
        if link.get("Size Distribution"):
            link |= {"Transit Size(MB)": 0.016384, "Transit Time(ms)": 0.008, "Bandwidth(GB/s)": 2.048}
            link["Size Distribution"] = {"0.002048": [8, 0.008]}
        elif link.get("Transit Size(MB)"):
            link |= {"Transit Size(MB)": 0.016384, "Transit Time(ms)": 0.008, "Bandwidth(GB/s)": 2.048}
    return entry


BASES = ("recorded", "balanced-4")
IDLE = frozenset({"comm/idle-collectives", "comm/overlong-collective", "comm/dominant-collective"})
FAULTS: Mapping[str, Fault] = {
    "idle-collective": Fault(overlong, IDLE, TALK, bases=BASES[1:]),
    "one-slow-transfer": Fault(one_slow_transfer, frozenset({"comm/overlong-collective"}), TALK, bases=BASES[1:]),
    "one-overlong-collective": Fault(
        one_overlong,
        IDLE,
        TALK | {"host/step-jitter", "capture/boundary-step"},
        bases=BASES[1:],
    ),
    "slow-transfers": Fault(
        slower_transfers,
        frozenset({"comm/slow-transfer", "comm/exposed-communication", "comm/late-gradient-reduction"}),
        TALK,
        bases=BASES,
    ),
    "slow-link": Fault(
        slow_link, frozenset({"ranks/slow-link"}), TALK | {"comm/slow-transfer"}, ranks=frozenset({0, 1}), bases=BASES
    ),
    "small-packets": Fault(
        small_packets, frozenset({"comm/small-packets"}), TALK | {"comm/slow-transfer"}, bases=BASES
    ),
    "reduction-at-the-end": Fault(
        reduction_at_the_end,
        frozenset({"comm/late-gradient-reduction"}),
        TALK | {"comm/slow-transfer"},
        growth=None,
        bases=BASES[1:],
    ),
    "many-collectives": Fault(
        many_collectives, frozenset({"comm/many-collectives", "comm/small-packets"}), TALK, bases=BASES[1:]
    ),
}
