# SPDX-License-Identifier: Apache-2.0
"""Every finding says when, but for what happens at no moment."""

from __future__ import annotations

import pytest
import yaml

from advisor.machine.shipped_files import shipped_folder
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog

SETTING = "a setting holds for the whole run"
RECORDING = "about how the capture was recorded, not about a moment of the run"
TOTALS = "totals over the whole capture name no call"
SAMPLES = "hardware is looked at by the clock, whatever the step"
AT_NO_MOMENT = {
    "compute/blocking-prefill": "steps of an engine, taken together by what they do",
    "compute/leading-module": "sums over all calls of a module",
    "capture/contradicted-times": "sums over the whole capture, or over all its steps",
    "capture/uncounted-preparation": "before the first event: the profiler gives a sum alone",
    "capture/damaged-input": "about the files; what could not be read has no time",
    "capture/rounded-times": "about the files; all of their times are affected",
    "capture/clocks-apart": "about all launches of a rank; what was launched when is what cannot be told",
    "capture/ranks-apart": "about whole recordings, which have no moment in a step",
    "capture/same-recording": "about whole recordings, which have no moment in a step",
    "capture/steps-apart": "about which steps were recorded, not about a moment in one",
    "capture/unmatched-collectives": "about calls that others of the same number are not at the same time as",
    "capture/cut-timeline": "about the files; what could not be read has no time",
    "capture/inflated-host-times": RECORDING,
    "capture/jobs-apart": RECORDING,
    "capture/rank-set-aside": "about ranks of which nothing was read",
    "capture/versions-apart": RECORDING,
    "capture/level-too-low": RECORDING,
    "capture/little-work": RECORDING,
    "capture/lost-memory": "about the files; records that are not there have no time",
    "capture/lost-rows": "about the files; rows that are not there have no time",
    "capture/no-steps": RECORDING,
    "capture/one-side-recorded": RECORDING,
    "capture/profiler-not-stopped": RECORDING,
    "capture/ranks-missing": RECORDING,
    "capture/several-captures": RECORDING,
    "comm/lost-packets": SAMPLES,
    "comm/saturated-port": SAMPLES,
    "env/changed-rdma-class": SETTING,
    "env/cpu-governor": SETTING,
    "env/disabled-host-cache": SETTING,
    "env/fragmenting-allocator": SETTING,
    "env/launch-blocking": SETTING,
    "env/numa-balancing": SETTING,
    "env/deterministic-communication": SETTING,
    "env/pinned-hccl-algorithm": SETTING,
    "env/too-many-threads": SETTING,
    "env/small-aclnn-cache": SETTING,
    "env/unbound-process": SETTING,
    "env/verbose-logs": SETTING,
    "host/compiled-dispatch": TOTALS,
    "host/long-waits": TOTALS,
    "host/saturated-cpu": SAMPLES,
    "io/slow-storage": SAMPLES,
    "memory/host-near-capacity": SAMPLES,
    "host/task-queue-off": SETTING,
    "io/slow-dataset-operation": "queues between operations are looked at by the clock, whatever the step",
    "ranks/slow-link": "the communication matrix says how much went over a link, not when",
    "ranks/slow-port": "the communication matrix says how much went over a link, not when",
}
RULES = Catalog.load([shipped_folder("rules")]).rules


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_says_when_or_why_it_cannot(rule: Rule) -> None:
    assert (rule.occurrences is None) == (rule.id in AT_NO_MOMENT), AT_NO_MOMENT.get(rule.id, "says nothing of when")


def test_no_exception_outlives_its_rule() -> None:
    assert {rule.id for rule in RULES} >= AT_NO_MOMENT.keys()


def test_a_call_before_the_first_kernel_may_be_the_worst_moment_of_what_held_the_host_up() -> None:
    """How long the device idled before its first kernel nobody knows: such a call counts as long as it lasts."""
    written = (yaml.safe_load(path.read_text("utf-8")) for path in shipped_folder("rules").glob("*/*.yaml"))
    every = [(rule.get("id"), rule.get("occurrences") or {}) for rule in written]
    told = [(name, one) for name, one in every if one.get("in") == "delaying_calls"]
    assert len(told) > 5
    wrong = [name for name, one in told if one["order"] != "-(idle_us if recorded(idle_us) else duration_us)"]
    assert not wrong
