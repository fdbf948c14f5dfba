# SPDX-License-Identifier: Apache-2.0
"""The clockwork: ranks run their programs, and meet in collectives.

Everything inside a rank is in order (main thread, queue thread, streams), so one pass over its program fixes all
times; a rank stops only at a collective, which begins when the last member is there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from corpus.events import Collective, RankTrace
from corpus.links import Link, Route, ns, route
from corpus.program import Communicate, Instruction, Machine, Meeting
from corpus.rank import Met, RankMachine

_Running = Generator[Meeting, Met, None]


class Deadlock(Exception):
    """Ranks wait for collectives that never get all their members."""


@dataclass(slots=True)
class _Rank:
    machine: RankMachine
    running: _Running
    waiting: Meeting | None = None


def simulate(programs: Sequence[Iterable[Instruction]], machine: Machine, seed: int) -> list[RankTrace]:
    """Run one program per rank to its end and give what each recorded.

    Raises:
        Deadlock: The ranks do not issue their collectives in one order.
    """
    ranks = [_start(rank, program, machine, seed) for rank, program in enumerate(programs)]
    for rank in ranks:
        _advance(rank, None)
    network = _Network(machine)
    while any(rank.waiting for rank in ranks):
        _meet(ranks, network)
    return [rank.machine.finish() for rank in ranks]


def _start(rank: int, program: Iterable[Instruction], machine: Machine, seed: int) -> _Rank:
    runner = RankMachine(rank, machine, seed)
    return _Rank(runner, runner.run(program))


def _advance(rank: _Rank, answer: Met | None) -> None:
    try:
        rank.waiting = next(rank.running) if answer is None else rank.running.send(answer)
    except StopIteration:
        rank.waiting = None


class _Network:
    """Numbers the collectives, and knows which of them lose a packet on which link."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.meetings: Iterator[int] = count()
        self._crossed = dict.fromkeys(machine.losses, 0)

    def route(self, wanted: Meeting, step: int) -> Route:
        """How a collective moves its data this time, in a step of this number."""
        held: dict[Link, int] = {}
        machine = self.machine.in_step(step).slowed(wanted.slower if isinstance(wanted, Communicate) else 1.0)
        usual = route(wanted.kind, wanted.size, wanted.members, machine)
        for link, losses in self.machine.losses.items():
            if usual.crosses(*link):
                if self._crossed[link] in losses:
                    held[link] = ns(losses[self._crossed[link]])
                self._crossed[link] += 1
        return route(wanted.kind, wanted.size, wanted.members, machine, held) if held else usual


def _meet(ranks: list[_Rank], network: _Network) -> None:
    """Let every collective whose members are all there take place."""
    met = False
    for rank in ranks:
        wanted = rank.waiting
        if wanted is None:
            continue
        members = [ranks[i] for i in wanted.members]
        if all(m.waiting is not None and m.waiting.members == wanted.members for m in members):
            _communicate(members, network)
            met = True
    if not met:
        raise Deadlock([(rank.machine.trace.rank, rank.waiting) for rank in ranks])


def _communicate(members: list[_Rank], network: _Network) -> None:
    wanted = members[0].waiting
    assert wanted is not None  # noqa: S101 - every member waits for the same
    there = {member.machine.trace.rank: member.machine.comm_ready for member in members}
    met = Met(next(network.meetings), there, network.route(wanted, members[0].machine.step))
    for member in members:
        _advance(member, met)


def collectives_of(traces: list[RankTrace]) -> dict[int, list[Collective]]:
    """The collectives of all ranks by meeting."""
    met: dict[int, list[Collective]] = {}
    for trace in traces:
        for collective in trace.collectives:
            met.setdefault(collective.meeting, []).append(collective)
    return met
