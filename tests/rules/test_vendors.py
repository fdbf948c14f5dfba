# SPDX-License-Identifier: Apache-2.0
"""Whom remedies concern: what one vendor or framework has is said to its runs, and others are told something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import rule_texts
import yaml

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.merge import merge
from advisor.engine.reason import of_missing, of_missing_values, of_unknown_run
from advisor.expr.language import run_values
from advisor.facts.base import Fact
from advisor.facts.observed import OBSERVED
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import FactMissing, Unclear
from advisor.model.findings import Finding, RemedyStep
from advisor.model.job import STACKS, JobKind, Workload
from advisor.model.run import Run
from advisor.rules import style
from advisor.rules.bind import Rule
from advisor.rules.cases import CaseInput, parse_given, run_of
from advisor.rules.catalog import Catalog, lint_rules
from advisor.rules.schema import cases_of_document
from advisor.rules.vendors import named_tools
from advisor.yaml_files import source

OF_TORCH = re.compile(
    r"[Tt]orch|\bDataLoader\b|\baten::|\.backward\(|DistributedDataParallel|\bDDP\b|\bno_sync\b|pin_memory|_ascend_pt"
)
"""What only PyTorch has."""
SWITCHES_OF_TORCH = re.compile(
    r"TASK_QUEUE_ENABLE|CPU_AFFINITY_CONF|PYTORCH_|ACL_OP_COMPILER|non_blocking|nn\.Module|\bnpu_\w+"
)
"""What remedies set or call that only PyTorch has, with torch_npu."""
DOCUMENTED_BY_MINDSPORE = {
    "mindspore._c_expression.GroupOptions",
    "mindspore.amp.auto_mixed_precision",
    "mindspore.communication.create_group",
    "mindspore.dataset.MindDataset",
    "mindspore.dataset.config.set_auto_offload",
    "mindspore.dataset.config.set_enable_autotune",
    "mindspore.dataset.config.set_num_parallel_workers",
    "mindspore.dataset.config.set_prefetch_size",
    "mindspore.dataset.vision",
    "mindspore.device_context.ascend.op_tuning.op_compile",
    "mindspore.jit",
    "mindspore.JitConfig",
    "mindspore.mint.optim.FusedAdamW",
    "mindspore.ops.flash_attention_score",
    "mindspore.ops.swiglu",
    "mindspore.parallel.auto_parallel.AutoParallel",
    "mindspore.parallel.nn.Pipeline",
    "mindspore.profiler.ExportType",
    "mindspore.profiler.mstx",
    "mindspore.profiler._ExperimentalConfig",
    "mindspore.profiler.profiler.analyse",
    "mindspore.recompute",
    "mindspore.runtime.current_stream",
    "mindspore.runtime.set_cpu_affinity",
    "mindspore.runtime.synchronize",
    "mindspore.float32",
    "mindspore.set_auto_parallel_context",
    "mindspore.Tensor",
}
"""What the documentation of MindSpore describes and examples of it call, of what remedies name."""
RULES = Catalog.load([shipped_folder("rules")]).rules
OWN = {
    "verl": re.compile("verl"),
    "Megatron": re.compile("--[a-z]|Megatron|MindSpeed"),
    "DeepSpeed": re.compile("DeepSpeed|zero_optimization|--optim"),
    "FSDP": re.compile("FSDP|--optim"),
    "vLLM": re.compile("vLLM|VLLM_"),
    "SGLang": re.compile("SGLang|SGLANG_"),
    "MindIE": re.compile("MindIE|MINDIE_|ATB_"),
    "AscendCL": re.compile("[Aa][Tt][Cc]|aclmdl"),
    "PyTorch": re.compile("DDP|DistributedDataParallel|FSDP|no_sync|--optim"),
}
"""By stack: what steps with flags have to name to be its own."""


@cache
def cases(path: Path) -> tuple[tuple[CaseInput, str], ...]:
    """The cases of a rule with what they say of their run, read once for all the runs they are tried in."""
    return tuple(
        (parse_given(case), str(case.given.get("run", ""))) for case in cases_of_document(source.read_document(path))[0]
    )


@cache
def known_run(words: str, ranks: tuple[int, ...]) -> tuple[Run, dict[str, float | str | None]]:
    """The run that these words tell of, and what rules know of it."""
    run = run_of(words, ranks)
    return run, run_values(run)


_FOUND: dict[tuple[object, ...], list[Finding]] = {}
_QUIET: set[tuple[object, ...]] = set()


def findings(rule: Rule, run: str) -> Iterator[Finding]:
    """What a rule finds in its own cases, had they been recorded in such a run: runs that differ in nothing that it
    asks for are judged once, and those that differ in what its remedy asks for alone once where it finds nothing."""
    of_remedy = {id(one) for one in rule.fix_when}
    judging = {name for one in rule.expressions() if id(one) not in of_remedy for name in one.names}
    asked = {name for one in rule.expressions() for name in one.names}
    for number, (said, recorded) in enumerate(cases(rule.path)):
        job, known = known_run(f"{recorded} {run}", tuple(said.run.ranks))
        judged, key = ((rule.id, number, *(known[name] for name in known if name in of)) for of in (judging, asked))
        if judged not in _QUIET and key not in _FOUND:
            _FOUND[key] = list(merge(evaluate(rule, TablesAlone(said.tables), job, known)))
            if not _FOUND[key]:
                _QUIET.add(judged)
        yield from _FOUND.get(key, ())


def words(step: RemedyStep) -> str:
    """All that a step says."""
    care = (step.care.en, step.care.zh) if step.care else ()
    return " ".join((step.do.en, step.do.zh, step.run, step.code, *care))


def names(step: RemedyStep) -> frozenset[str]:
    """What the run of a step has to be known for, by the tools it names."""
    return names_in(words(step))


@cache
def names_in(said: str) -> frozenset[str]:
    """The same of what it says, which many findings show."""
    return frozenset(name for name, _ in named_tools(said))


_SHOWN: dict[tuple[str, str], list[list[RemedyStep]]] = {}


Steps = list[list[RemedyStep]]
"""Of each finding the steps that it shows."""


def shown(rule: Rule, run: str) -> Steps:
    """The steps that each finding shows."""
    if (rule.id, run) not in _SHOWN:
        info = rule.info()
        _SHOWN[rule.id, run] = [list(info.remedy(finding)) for finding in findings(rule, run)]
    return _SHOWN[rule.id, run]


def are_told_alike(told: Steps, elsewhere: Steps) -> bool:
    """Whether the same findings have remedies; where a stack makes some of them quiet, whether all have some."""
    if len(told) == len(elsewhere):
        return [*map(bool, told)] == [*map(bool, elsewhere)]
    return all(told) == all(elsewhere)


def test_mindspore_is_told_something_and_nothing_of_torch_npu() -> None:
    wrong = []
    for rule in RULES:
        told, elsewhere = shown(rule, "framework=MindSpore stack=MindSpore"), shown(rule, "framework=PyTorch")
        of_torch = any(
            OF_TORCH.search(words(step)) or SWITCHES_OF_TORCH.search(words(step)) for steps in told for step in steps
        )
        if of_torch or (told and elsewhere and not are_told_alike(told, elsewhere)):
            wrong.append(rule.id)
    assert wrong == []


def names_of_mindspore(said: str) -> Iterator[str]:
    """What a text names of MindSpore, with its package."""
    yield from re.findall(r"\bmindspore(?:\.\w+)+", re.sub(r"from mindspore.*", "", said))
    for package, imported in re.findall(r"from (mindspore[\w.]*) import ([\w, ]+)", said):
        yield from (f"{package}.{one.strip()}" for one in imported.split(","))


def test_remedies_name_nothing_of_mindspore_that_it_does_not_document() -> None:
    said = {name for rule in RULES for step in rule.fix for name in names_of_mindspore(words(step))}
    assert said == DOCUMENTED_BY_MINDSPORE


def test_mindspore_is_sent_to_no_page_on_torch() -> None:
    pages = [(rule.id, page) for rule in RULES for page in rule.info(Run(framework="MindSpore").readers).references]
    assert not [(rule, page.url) for rule, page in pages if OF_TORCH.search(page.title) or "torch" in page.url.lower()]


@pytest.mark.parametrize("fact", OBSERVED, ids=lambda fact: fact.table)
def test_what_to_record_of_mindspore_names_nothing_of_torch(fact: type[Fact]) -> None:
    said = of_missing(FactMissing([fact.table]), Run(framework="MindSpore"))
    assert not OF_TORCH.search(f"{said.en} {said.zh}")


def test_what_is_not_known_of_a_run_of_mindspore_names_nothing_of_torch() -> None:
    run = Run(framework="MindSpore")
    for rule in RULES:
        asked = [name for expression in rule.expressions() for name in expression.names]
        columns = [name for name in rule.fact.columns() if name in asked]
        for said in (of_unknown_run(asked, run), of_missing_values(rule.fact, columns, asked, run=run)):
            assert not OF_TORCH.search(f"{said.en} {said.zh}"), rule.id


def test_a_gpu_is_told_something_and_nothing_of_ascend() -> None:
    wrong = []
    for rule in RULES:
        told, elsewhere = shown(rule, "framework=PyTorch device_family=gpu"), shown(rule, "framework=PyTorch")
        of_ascend = any("device_family" in names(step) for steps in told for step in steps)
        if of_ascend or (told and [*map(bool, told)] != [*map(bool, elsewhere)]):
            wrong.append(rule.id)
    assert wrong == []


@pytest.mark.parametrize("device", ["npu", "gpu"])
def test_an_inference_is_told_something_and_nothing_of_training(device: str) -> None:
    run = f"framework=PyTorch device_family={device}"
    wrong = []
    for rule in RULES:
        told, elsewhere = shown(rule, f"{run} workload=inference"), shown(rule, run)
        of_training = any("workload" in names(step) for steps in told for step in steps)
        if of_training or not (all(told) or [*map(bool, told)] == [*map(bool, elsewhere)]):
            wrong.append(rule.id)
    assert wrong == []


OF_TRAINING = re.compile(r"Megatron|MindSpeed(?!-RL|-LLM, environment)|DeepSpeed|FSDP|DistributedDataParallel", re.I)


def test_an_inference_is_sent_to_no_page_on_training() -> None:
    kinds: tuple[Workload, ...] = ("", "training", "inference", "RL")
    pages = {
        kind: {(rule.id, one.title) for rule in RULES for one in rule.info(run.readers).references}
        for kind, run in ((kind, Run(job=JobKind(workload=kind))) for kind in kinds)
    }
    told, everything = pages.pop("inference"), pages[""]
    assert not [page for page in told if OF_TRAINING.search(page[1])]
    assert all(OF_TRAINING.search(title) for _, title in everything - told)
    assert all(told == everything for told in pages.values())


@pytest.mark.parametrize("stack", [one for one in STACKS if one != "MindSpore"])
def test_a_stack_is_told_something_and_no_flags_of_another(stack: str) -> None:
    kind = "inference" if stack in ("vLLM", "SGLang", "MindIE", "AscendCL") else "training"
    run = f"framework=PyTorch workload={kind}"
    wrong = []
    for rule in RULES:
        told, elsewhere = shown(rule, f"{run} stack={stack}"), shown(rule, run)
        steps = [step for steps in told for step in steps]
        foreign = any("stack" in names(step) and not OWN[stack].search(words(step)) for step in steps)
        if foreign or not (all(told) or [*map(bool, told)] == [*map(bool, elsewhere)]):
            wrong.append(rule.id)
    assert wrong == []


def test_a_training_is_told_nothing_of_serving() -> None:
    serving = re.compile(r"vLLM|SGLang|MindIE|MINDIE_|VLLM_|enforce-eager|cudagraph|async-scheduling")
    told = [(rule.id, steps) for rule in RULES for steps in shown(rule, "framework=PyTorch workload=training")]
    assert [rule for rule, steps in told if any(serving.search(words(step)) for step in steps)] == []


@pytest.mark.parametrize(("words", "family"), [("", "npu"), ("device_family=gpu captured_ranks=2", "gpu")])
def test_the_family_of_devices_is_known_of_every_run(words: str, family: str) -> None:
    assert run_values(run_of(words))["device_family"] == family


def test_a_case_knows_no_other_family_of_devices() -> None:
    with pytest.raises(Unclear, match="device_family is npu or gpu, not `tpu`"):
        run_of("device_family=tpu")


@pytest.mark.parametrize(
    ("step", "wrong"),
    [
        ("{do: {en: Wait., zh: 等。}, run: npu-smi info}", ["the step names `npu-smi`, which not every run has"]),
        (
            "{do: {en: Wait., zh: 等。}, code: torch.npu.synchronize()}",
            ["the step names `torch.npu`, which not every run has"] * 2,
        ),
        ('{do: {en: Wait., zh: 等。}, run: npu-smi info, when: device_family == "npu"}', []),
        (
            '{do: {en: Wait., zh: 等。}, run: export TASK_QUEUE_ENABLE=2, when: device_family == "npu"}',
            ["the step names `TASK_QUEUE_ENABLE`, which not every run has"],
        ),
    ],
)
def test_a_shipped_remedy_that_names_a_tool_says_whom_it_concerns(
    step: str, wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rule_texts.write(tmp_path)
    data = yaml.safe_load(path.read_text("utf-8"))
    data["fix"] = [yaml.safe_load(step)]
    path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), "utf-8")
    assert not lint_rules([tmp_path])  # rules of one's own are for runs one knows
    monkeypatch.setattr(style, "shipped_folder", lambda _: tmp_path)
    assert [what for mistake in lint_rules([tmp_path]) if "names" in (what := str(mistake.what))] == wrong


MSPROF_NEVER = re.compile(r"torch_npu|torch\.npu|ProfilerActivity|prof\.step|profiler_level|\bmindspore\.")


def test_who_recorded_with_msprof_is_told_no_switch_of_the_profilers_of_frameworks() -> None:
    told = [(rule.id, steps) for rule in RULES for steps in shown(rule, "framework=- recorder=msprof")]
    for rule, steps in told:
        for step in steps:
            assert not MSPROF_NEVER.search(" ".join((step.do.en, step.do.zh, step.run, step.code))), rule


UNITS_OF_NPUS = re.compile(
    r"\bCANN\b|\b[Cc]ube\b|\bAIV\b|\bMTE\d\b|AI ?C(PU|ore)|\bacl(rt|op|nn)\w*|torch_npu|msprof|kernel_details"
)
NEVER_ON_GPUS = {"mte2_share", "busiest_share"}
"""Columns that no trace of a GPU fills: what judges by them has nothing to say there."""


def told_by_findings(run: str, of: Callable[[Rule], bool]) -> Iterator[tuple[str, str]]:
    """What rules that find something in such a run say of it: titles, why it matters, and what was measured."""
    for rule in filter(of, RULES):
        if any(findings(rule, run)):
            texts = (rule.title, *rule.title_with.values(), rule.why, *(one.label for one in rule.evidence))
            yield rule.id, " ".join(said for text in texts for said in (text.en, text.zh))


def test_a_finding_on_a_gpu_names_no_unit_or_software_of_an_npu() -> None:
    told = told_by_findings(
        "framework=PyTorch device_family=gpu",
        lambda rule: NEVER_ON_GPUS.isdisjoint(name for one in rule.expressions() for name in one.names),
    )
    assert {(rule, found[0]) for rule, said in told if (found := UNITS_OF_NPUS.search(said))} == set()


def test_a_finding_on_mindspore_names_nothing_of_torch() -> None:
    told = told_by_findings("framework=MindSpore stack=MindSpore", lambda _: True)
    assert {(rule, found[0]) for rule, said in told if (found := OF_TORCH.search(said))} == set()
