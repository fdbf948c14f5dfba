# SPDX-License-Identifier: Apache-2.0
"""How a job of large ranks spreads over workers, on one machine and on a Dask cluster, and what a cache spares.

    python benchmarks/workers.py --ours .venv/bin/advisor --ranks 16 --size 200M --output docs/workers.md

The job is written by the corpus with steps as long as those of real jobs and repeated to the size. Measured are one
worker and two; for more than this machine has cores for, the measured times of ranks are handed out again in a
simulation, with what one process does alone for as many small ranks. Prints a page, and ends with 1 when two workers do
less than 0.9 of what they could.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.enlarge import size_of
from benchmarks.loopback import Loopback
from benchmarks.many_ranks import STAGES, measured_parts, small_ranks_job
from benchmarks.processes import Measured, measure, measured_alone, peak_of_process
from benchmarks.ranks import repeated_job

_MB = 1e6
_EFFICIENCY = 0.9
"""Least part of twice the work that two workers do in the time of one."""
_FIXED_MB, _PER_BYTE = 60.0, 0.35
"""What a worker may have at most: so much, and this part of its rank."""
_FEW = 4
"""Ranks of which it is measured too how much memory a process has."""
_SIMULATED_RANKS = 1024
_RUNS_ALONE = 3
"""Of what one process does alone, tenths of a second that are to be told apart."""
_SIMULATED_WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class Spread:
    """One way to share the work: how long it takes with one worker and with two, and what the largest worker has."""

    name: str
    one: Measured
    two: Measured
    worker_bytes: int
    own_bytes: int
    """Of that, the most that it had to itself."""

    @property
    def efficiency(self) -> float:
        return self.one.seconds / self.two.seconds / 2


@dataclass(frozen=True, slots=True)
class SecondsAlone:
    """What one process does before and after the ranks are read, s of the processor."""

    large: float
    """Of the job with large ranks."""
    small: float
    """Of one with as many small ranks."""
    many: float
    """Of one with as many small ranks as are simulated."""
    ranks: int

    @property
    def of_a_large_rank(self) -> float:
        """How much more a large rank takes than a small one: it hands over more."""
        return max(self.large - self.small, 0.0) / self.ranks

    def simulated(self, ranks: int) -> float:
        """Of so many large ranks: as much as of small ones, and what each takes beyond that."""
        return self.many + ranks * self.of_a_large_rank


def main() -> int:
    """Measure a job, and simulate a larger one."""
    parser = argparse.ArgumentParser(description="Measures how ranks spread over workers")
    parser.add_argument("--ours", default="advisor", help="the advisor command")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--size", default="200M", help="of the timeline of each")
    parser.add_argument(
        "--runs", type=int, default=2, help="of one worker and of two in turn, of which the best counts"
    )
    parser.add_argument("--captures", type=Path, help="a folder that keeps the job for the next time")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_times_of_ranks(options.measure)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        work = options.captures or Path(temporary)
        work.mkdir(exist_ok=True)
        job = work / "large"
        if not job.exists():
            repeated_job(work, options.ranks, size_of(options.size))
        found = [_on_this_machine(options, job), _on_dask(options, job, Path(temporary))]
        cached = [measure(_command(options, job, "--cache", f"{temporary}/kept")) for _ in range(2)]
        few = Path(temporary) / "few"
        few.mkdir()
        for rank in sorted(job.iterdir())[:_FEW]:
            (few / rank.name).symlink_to(rank.resolve(), target_is_directory=True)
        few_bytes = measure(_command(options, few, "--jobs", "2")).largest_bytes
        many = small_ranks_job(work, _SIMULATED_RANKS, STAGES)
        alone = SecondsAlone(
            *map(_seconds_alone, (job, small_ranks_job(work, len(_sizes(job))), many)), len(_sizes(job))
        )
        times = measured_alone(__file__, job)
        page = _page(_sizes(job), found, few_bytes, cached, (times, alone))
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(any(one.efficiency < _EFFICIENCY for one in found))


def _command(options: argparse.Namespace, job: Path, *words: str) -> list[str]:
    return [options.ours, "diagnose", str(job), "-o", "json:/dev/null", "-q", *words]


def _on_this_machine(options: argparse.Namespace, job: Path) -> Spread:
    one, two = _in_turn(options.runs, *(_command(options, job, "--jobs", str(jobs)) for jobs in (1, 2)))
    watched = measure(_command(options, job, "--jobs", "2"))
    return Spread("processes of one machine", one, two, watched.largest_bytes, watched.worker_bytes)


def _on_dask(options: argparse.Namespace, job: Path, folder: Path) -> Spread:
    with _cluster(folder / "dask-1", 1) as alone, _cluster(folder / "dask-2", 2) as pair:
        one, two = _in_turn(options.runs, *(_command(options, job, "--on", address) for address, _ in (alone, pair)))
        watched = measure(_command(options, job, "--on", pair[0]), beside=pair[1])
        return Spread("Dask on this machine", one, two, max(map(peak_of_process, pair[1])), watched.worker_bytes)


def _in_turn(runs: int, *commands: Sequence[str]) -> list[Measured]:
    """The fastest run of each, run one after the other: what else the machine does strikes them alike."""
    every = [[measure(command, watch=False) for command in commands] for _ in range(runs)]
    return [min(of_one, key=lambda one: one.seconds) for of_one in zip(*every, strict=True)]


@contextmanager
def _cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[int]]]:
    """The address of a scheduler with so many workers, and the numbers of their processes."""
    folder.mkdir()
    own = Loopback(folder)
    try:
        own.start_scheduler()
        pids = [own.start_workers("--no-nanny", "--memory-limit", "0").pid for _ in range(workers)]
        _wait_for_workers(own.address, workers)
        yield own.address, pids
    finally:
        own.end()


def _wait_for_workers(address: str, workers: int) -> None:
    from distributed import Client

    with closing(Client(address, set_as_default=False)) as client:
        client.wait_for_workers(workers, timeout=60)


def _times_of_ranks(job: Path) -> list[float]:
    """Seconds that each rank takes, in one process."""
    import advisor
    from advisor.pipeline import diagnose, open_profile

    rules = advisor.load_rules()
    profile = open_profile(job, jobs=1)
    times: list[float] = []
    spread = profile._gather

    def timed(work: Any, sources: Any) -> Iterable[Any]:
        before = time.perf_counter()
        for part in spread(work, sources):
            times.append(time.perf_counter() - before)
            yield part
            before = time.perf_counter()

    profile._gather = timed
    diagnose(profile, rules)
    return times


def _seconds_alone(job: Path) -> float:
    """What one process does before and after the ranks are read."""
    parts = measured_parts(job, _RUNS_ALONE)
    return float(parts["opening"] + parts["together"])


def simulated_seconds(times: Sequence[float], workers: int, alone: float) -> float:
    """How long ranks take that are handed out in order, each to the worker that is free first, and what is done alone.

    A simulation of how ranks are handed out, and of nothing else: storage and network are taken to keep up.
    """
    free = [0.0] * workers
    for seconds in times:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free) + alone


def _simulated(times: Sequence[float], alone: SecondsAlone) -> list[tuple[int, float, float]]:
    """Workers, seconds and efficiency for many ranks like those that were measured."""
    every = list(itertools.islice(itertools.cycle(times), _SIMULATED_RANKS))
    rest = alone.simulated(_SIMULATED_RANKS)
    seconds = {workers: simulated_seconds(every, workers, rest) for workers in _SIMULATED_WORKERS}
    return [(workers, took, seconds[1] / took / workers) for workers, took in seconds.items()]


def _sizes(job: Path) -> list[int]:
    """Bytes of each rank."""
    return [sum(path.stat().st_size for path in rank.rglob("*") if path.is_file()) for rank in sorted(job.iterdir())]


def _page(
    sizes: Sequence[int],
    found: Sequence[Spread],
    few_bytes: int,
    cached: Sequence[Measured],
    simulation: tuple[Sequence[float], SecondsAlone],
) -> str:
    allowed = _FIXED_MB + _PER_BYTE * max(sizes) / _MB
    rows = "\n".join(
        f"| {one.name} | {one.one.seconds:.1f} s | {one.two.seconds:.1f} s | {one.efficiency:.2f} "
        f"| {one.own_bytes / _MB:.0f} MB | {one.worker_bytes / _MB:.0f} MB |"
        for one in found
    )
    times, alone = simulation
    simulated = "\n".join(
        f"| {workers} | {seconds:.0f} s | {efficiency:.2f} |"
        for workers, seconds, efficiency in _simulated(times, alone)
    )
    first, second = cached
    return f"""# How work spreads over workers

How much faster a diagnosis is with more workers, and how much memory each of them takes.

Written by `benchmarks/workers.py`: a generated job of {len(sizes)} ranks with {max(sizes) / _MB:.0f} MB each, the whole
command to a JSON diagnosis, best of its runs. *Efficiency* is the part of what two workers could do that they do
(target {_EFFICIENCY}; a little above 1 is the noise of the machine). *A worker* is the most memory that one of the two
had to itself, by which each further one adds to a machine (target {allowed:.0f} MB: {_FIXED_MB:.0f} MB and {_PER_BYTE}
of the rank); *with what it shares* adds the libraries and the rules that the others have too. Of {_FEW} ranks instead
of {len(sizes)}, read by processes of one machine, that was {few_bytes / _MB:.0f} MB.

| workers | one | two | efficiency | a worker | with what it shares |
|---|---|---|---|---|---|
{rows}

With [`--cache`](cache.md) the first diagnosis takes {first.seconds:.1f} s ({first.cpu_seconds:.1f} s of the processor),
and the second {second.seconds:.1f} s ({second.cpu_seconds:.1f} s).

## More workers: a simulation

What more workers than this machine has cores would take is simulated: the times that the ranks above took
({min(times):.1f} to {max(times):.1f} s each), repeated for {_SIMULATED_RANKS} ranks, are handed out
in order, each rank to the worker that is free first. To that comes what one process does and no worker shortens,
{alone.simulated(_SIMULATED_RANKS):.1f} s: {alone.many:.1f} s were measured on a job of {_SIMULATED_RANKS} small ranks,
and {1e3 * alone.of_a_large_rank:.1f} ms for each large one, as {len(sizes)} of them take {alone.large:.2f} s and
as many small ones {alone.small:.2f} s. Storage and network are taken to keep up, which the simulation does not know.

| workers | {_SIMULATED_RANKS} ranks | efficiency |
|---|---|---|
{simulated}
"""


if __name__ == "__main__":
    sys.exit(main())
