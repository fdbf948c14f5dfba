# SPDX-License-Identifier: Apache-2.0
"""Real traces of GPUs: what experts say of each comes first, and nobody is told of another vendor's switches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.shared_captures import SharedCaptures

PLUGIN = "gpu_kineto_tb_samples/tb_plugin/samples"
MODELS = "gpu_kineto_models"
FOREIGN = re.compile(r"(?<!i)npu|ascend|\bcann\b|hccl|TASK_QUEUE|msprof|AI Core|mindstudio", re.IGNORECASE)


def test_without_loader_workers_the_data_loader_is_first_and_with_four_it_is_not(
    real_data: Path, shared: SharedCaptures
) -> None:
    for trace in ("worker0.1623143089861", "worker0.1623143566756"):
        slow = shared.diagnosis(real_data / PLUGIN / "resnet50_num_workers_0" / f"{trace}.pt.trace.json.gz")
        assert slow.findings[0].rule == "io/data-loader"
        assert "num_workers" in slow.rule("io/data-loader").fix[(slow.findings[0].fix or (0,))[0]].code
    for trace in ("worker0.1623212756351", "worker0.1623213129365"):
        quick = shared.diagnosis(real_data / PLUGIN / "resnet50_num_workers_4" / f"{trace}.pt.trace.json.gz")
        assert "io/data-loader" not in {finding.rule for finding in quick.findings}


def test_idle_time_is_what_the_experts_say(real_data: Path, shared: SharedCaptures) -> None:
    models = real_data / MODELS
    idle = {
        name: shared.diagnosis(models / f"{name}.json.gz").run.idle_share or 0.0
        for name in ("h100_qwen1.5-0.5b", "mi300_qwen1.5-0.5b", "h100_vit_classifier", "vllm_piecewise_graph_execution")
    }
    assert idle["h100_qwen1.5-0.5b"] == pytest.approx(0.08, abs=0.01)
    assert idle["mi300_qwen1.5-0.5b"] == pytest.approx(0.1, abs=0.01)
    assert 0.76 < idle["h100_vit_classifier"] < 0.85
    assert idle["vllm_piecewise_graph_execution"] < 0.01  # replayed graphs launch many kernels at once


def test_a_classifier_of_small_kernels_is_held_up_by_its_host(real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / MODELS / "h100_vit_classifier.json.gz")
    assert found.findings[0].rule.startswith("host/")
    assert found.split is not None
    assert max(finding.saving.us or 0.0 for finding in found.findings) <= found.split.free_us


@pytest.mark.parametrize(
    "name",
    [
        f"{MODELS}/b200_eager.json.gz",
        f"{MODELS}/h100_qwen1.5-0.5b.json.gz",
        f"{MODELS}/mi300_qwen1.5-0.5b.json.gz",
        f"{MODELS}/sglang_qwen3-8b_prefilldecode.json.gz",
        f"{PLUGIN}/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
        "gpu_hta/nccl_parser_config/nccl_data.json.gz",
        "gpu_hta/trace_filter",
    ],
)
def test_nobody_with_a_gpu_is_told_of_the_switches_of_an_npu(
    real_data: Path, shared: SharedCaptures, name: str
) -> None:
    found = shared.diagnosis(real_data / name)
    assert "failed" not in {outcome.outcome for outcome in found.outcomes}
    told = [text for outcome in found.outcomes if outcome.reason for text in (outcome.reason.en, outcome.reason.zh)]
    for finding in found.findings:
        rule = found.rule(finding.rule)
        steps = [rule.fix[place] for place in (range(len(rule.fix)) if finding.fix is None else finding.fix)]
        told += [str(part) for part in (rule.title, rule.why, rule.references, *steps)]
    assert told
    assert not [text for text in told if FOREIGN.search(text)]


def test_two_ranks_of_one_job_are_read_together(real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / "gpu_hta/trace_filter")
    assert found.run.ranks == (0, 1)
    assert found.run.world_size == 128
