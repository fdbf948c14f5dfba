# SPDX-License-Identifier: Apache-2.0
"""What the shipped rules say stands by itself: whoever reads one finding is not sent to look for another."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from advisor.facts import FACTS
from advisor.facts.derived import DelayTurn, HostTurn, jitter, launches
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Text
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog

RULES = Catalog.load([shipped_folder("rules")]).rules
ELSEWHERE = re.compile(
    r"\bfindings\b|\b(?:another|this|that|each|the) finding\b|\b(?:this|the) (?:report|diagnosis)\b"
    r"|\b(?:above|below)[.,;)]"
    r"|本报告|本次诊断|类问题|类的.{0,6}问题|其他问题|其他结论|见下表|见上"
)


def told(rule: Rule) -> Iterator[Text]:
    """What the rule says of a finding: title, reason, remedy and what the saving assumes."""
    info = rule.info()
    yield from (info.title, info.why, *filter(None, (info.assumes,)))
    for step in info.fix:
        yield from filter(None, (step.do, step.care))


WITNESS = re.compile(
    r"publi|guide|notes|paper|rulebook|MindInsight|recorded captures|judgement|share from which|half of|twice|two and",
    re.IGNORECASE,
)
"""What a threshold may rest on beside generated captures: recordings, what somebody published, or a stated opinion."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_threshold_rests_on_generated_captures_alone(rule: Rule) -> None:
    alone = {
        name: param.basis.en
        for name, param in rule.params.items()
        if "generated" in param.basis.en.lower() and not WITNESS.search(param.basis.en)
    }
    assert not alone


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_saving_that_is_an_upper_bound_is_said_to_be_one(rule: Rule) -> None:
    info = rule.info()
    bound = info.assumes is not None and (
        info.assumes.en.startswith("An upper bound") or info.assumes.zh.startswith("上限")
    )
    assert info.at_most == bound


OF_THE_HOST = frozenset(
    {
        *(fact for fact in FACTS.values() if fact.__module__ in (launches.__name__, jitter.__name__)),
        DelayTurn,
        HostTurn,
    }
)
"""Tables whose times are what the host took, or what the device waited for it."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_saving_of_what_the_host_did_is_said_to_be_host_time(rule: Rule) -> None:
    if rule.saving is not None and rule.fact in OF_THE_HOST:
        assert rule.saving.host_time
    if rule.saving is not None and rule.saving.host_time:
        assert rule.id.split("/")[0] not in ("compute", "comm", "pipeline")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_sends_its_reader_to_another_finding(rule: Rule) -> None:
    for text in told(rule):
        for said in (text.en, text.zh):
            assert not ELSEWHERE.search(said), said


CHINESE = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r" [a-z]{3,}(?![\w.(])")
"""A word that is none of a name, an option or a module."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_page_to_read_is_named_in_the_language_of_the_reader(rule: Rule) -> None:
    for one in rule.info().references:
        assert not CHINESE.search(one.say_title("en")), one.title
        chinese = one.say_title("zh")
        assert CHINESE.search(chinese) or not ENGLISH.search(chinese) or chinese in PAPERS, chinese


PAPERS = frozenset(
    {
        "GPipe: efficient training of giant neural networks using pipeline parallelism",
        "Efficient large-scale language model training on GPU clusters using Megatron-LM",
        "Characterizing Compute-Communication Overlap in GPU-Accelerated Distributed Deep Learning",
        "Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve (OSDI 2024)",
        "Ring attention with blockwise transformers for near-infinite context",
        "Understanding stragglers in large model training using what-if analysis (StragglerAnalysis)",
        "Understanding stragglers in large model training using what-if analysis (StragglerAnalysis, job SE)",
        "Williams, Waterman and Patterson, Roofline (2009)",
    }
)
"""Papers, which are called the same in any language."""
