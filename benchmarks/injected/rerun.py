# SPDX-License-Identifier: Apache-2.0
"""Runs a program: when each of its moments comes."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.injected.program import Job, Moment


class Deadlock(Exception):
    """Moments wait for each other in a circle."""


def rerun(job: Job) -> None:
    """Sets when each moment comes: the work since the one before it done, and all come that it waits for.

    Raises:
        Deadlock: Some moments wait for each other.
    """
    run_moments(list(job.moments()))


def run_moments(moments: list[Moment]) -> None:
    """The same, of some moments.

    Raises:
        Deadlock: Some of them wait for each other.
    """
    missing, followers = _awaited(moments)
    ready = [moment for moment in moments if not missing[id(moment)]]
    done = 0
    while ready:
        moment = ready.pop()
        done += 1
        moment.at = _time(moment)
        for follower in followers.get(id(moment), ()):
            missing[id(follower)] -= 1
            if not missing[id(follower)]:
                ready.append(follower)
    if done < len(moments):
        raise Deadlock(f"{len(moments) - done} of {len(moments)} moments wait for each other")


def _time(moment: Moment) -> int:
    came = (moment.before.at if moment.before else 0) + moment.work
    for other, lag in moment.waits:
        came = max(came, other.at + lag)
    return came


def _awaited(moments: Iterable[Moment]) -> tuple[dict[int, int], dict[int, list[Moment]]]:
    """Per moment how many it waits for, and who waits for it."""
    missing: dict[int, int] = {}
    followers: dict[int, list[Moment]] = {}
    for moment in moments:
        awaited = [other for other, _ in moment.waits]
        if moment.before is not None:
            awaited.append(moment.before)
        missing[id(moment)] = len(awaited)
        for other in awaited:
            followers.setdefault(id(other), []).append(moment)
    return missing, followers
