# SPDX-License-Identifier: Apache-2.0
"""What kind of job ran is told by what only such jobs have; what nothing tells stays unknown."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import advisor
from advisor.analysis.job.job_signs import job_signs
from advisor.cli import arguments as cli_words
from advisor.facts import Fact, Table, read_table
from advisor.facts.derived import EngineStep
from advisor.facts.observed import ApiTotal, HostCall, Kernel, OperatorTotal, ProgramMark, Setting
from advisor.messages.errors import UsageError
from advisor.model import job
from advisor.model.job import STACKS, TOLD_WORKLOADS, JobKind, Stack, ToldWorkload, told_job
from advisor.model.run import Capture, Parallel, Run
from advisor.summary.job_kind import infer_framework, infer_job
from tests.shared_captures import SharedCaptures


def kind_of(run: Run | None = None, **tables: str) -> JobKind:
    """The job that these tables show."""
    facts: dict[str, type[Fact]] = {"kernels": Kernel, "totals": OperatorTotal, "calls": HostCall, "settings": Setting}
    facts |= {"marks": ProgramMark, "called": ApiTotal}
    given: dict[str, Table[Fact] | None] = {
        name: read_table(fact, tables[name]) if name in tables else None for name, fact in facts.items()
    }
    return infer_job(run or Run(), job_signs(**given))  # type: ignore[arg-type]


def framework_of(run: Run, *names: str) -> str:
    """The framework behind these calls of the host."""
    signs = job_signs(None, None, read_table(HostCall, calls(*names)) if names else None, None, None)
    return infer_framework(run, signs, infer_job(run, signs))


def operators(*types: str) -> str:
    return "\n".join(("op_type", *types))


def calls(*names: str) -> str:
    """Calls of these names; models are executed by those that CANN calls so."""
    does = {"aclmdlExecute": "execute_through"}
    return "\n".join(("name activity", *(f'"{name}" {does.get(name, "-")}' for name in names)))


@pytest.mark.parametrize(
    "name",
    [
        "ReluGrad",
        "MaxPoolGradWithArgmaxV1",
        "FlashAttentionScoreGrad",
        "Conv2DBackpropFilter",
        "ApplyAdamWV2",
        "aten::cudnn_convolution_backward_weight",
        "_layer_norm_bwd_kernel",
    ],
)
def test_an_operator_of_the_backward_pass_is_training(name: str) -> None:
    found = kind_of(kernels=operators("MatMulV2", name))
    assert (found.workload, found.signs[0].name) == ("training", name)


@pytest.mark.parametrize("table", ["calls", "called"])
def test_a_program_that_executes_a_loaded_model_has_the_flags_of_no_framework(table: str) -> None:
    run = Run(captures=(Capture(rank=0, path="", recorder="msprof", source="text"),))
    found = kind_of(run, **{table: calls("aclrtMemcpy", "aclmdlExecute")})
    assert (found.workload, found.stack) == ("inference", "AscendCL")
    assert {one.about for one in found.signs if one.name == "aclmdlExecute"} == {"workload", "stack"}


def test_a_framework_that_recorded_itself_is_no_program_of_another_kind() -> None:
    assert kind_of(calls=calls("aclmdlExecute")).stack == ""


def test_a_loaded_model_in_a_process_of_an_engine_has_the_flags_of_the_engine() -> None:
    run = Run(captures=(Capture(rank=0, path="", recorder="msprof", source="text"),))
    assert kind_of(run, calls=calls("aclmdlExecute", "vllm::unified_attention")).stack == "vLLM"


def test_sparse_attention_with_a_backward_pass_is_training() -> None:
    assert kind_of(kernels=operators("SparseFlashMlaGrad")).workload == "training"


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("ReshapeAndCacheNdKernel", ""),
        ("FusedInferAttentionScore", ""),
        ("SparseFlashMla", ""),
        ("DispatchFFNCombineW4A8", ""),
        ("GroupedMatmulSwigluQuantV2", ""),
        ("PagedAttentionMaskNdKernel", "decode"),
        ("IncreFlashAttention", "decode"),
        ("PromptFlashAttention", "prefill"),
        ("UnpadFlashAttentionBF16NdKernel", "prefill"),
    ],
)
def test_operators_on_kept_keys_and_values_are_inference(name: str, phase: str) -> None:
    found = kind_of(totals=operators("MatMulV2", name))
    assert (found.workload, found.phase, found.signs[0].name) == ("inference", phase, name)


@pytest.mark.parametrize(
    ("mark", "stack"),
    [
        ("execute_context_0(0)_generation_32(32)", "vLLM"),
        ("execute_15360_context_15(sq15360)_generation_0(sq0)", ""),
        ("step[DECODE bs=8]", "SGLang"),
        ("step[EXTEND bs=15 toks=15360]", "SGLang"),
    ],
)
def test_the_mark_of_a_step_names_its_engine_where_only_one_writes_it_so(mark: str, stack: str) -> None:
    """The second form stands in a public trace of SGLang."""
    assert kind_of(calls=calls(mark)).stack == stack


@pytest.mark.parametrize(
    ("mark", "phase"),
    [
        ("execute_context_1(888_788544)_generation_0(0)", "prefill"),
        ("execute_context_0(0)_generation_32(32)", "decode"),
        ("execute_8192_context_9(sq8155sk8430)_generation_37(sq37sk34489)", "mixed"),
        ("execute_15360_context_15(sq15360)_generation_0(sq0)", "prefill"),
    ],
)
def test_the_marks_of_an_engine_say_what_each_step_does(mark: str, phase: str) -> None:
    assert kind_of(calls=calls(mark)).phase == phase


def test_prompts_and_new_tokens_in_one_capture_are_both() -> None:
    assert kind_of(kernels=operators("PromptFlashAttention", "IncreFlashAttention")).phase == "mixed"


def test_generating_and_learning_in_one_capture_is_reinforcement_learning() -> None:
    assert kind_of(kernels=operators("PagedAttentionMaskNdKernel", "FlashAttentionScoreGrad")).workload == "RL"


VERL = "verl/workers/fsdp_workers.py(3): run"


@pytest.mark.parametrize(
    ("tables", "workload", "half", "told_by"),
    [
        ({"kernels": operators("PagedAttentionMaskNdKernel"), "calls": calls(VERL)}, "inference", "rollout", "Paged"),
        ({"kernels": operators("FlashAttentionScoreGrad"), "calls": calls(VERL)}, "training", "update", "FlashAtt"),
        ({"marks": "name\ngenerate_sequences"}, "inference", "rollout", "generate_sequences"),
        ({"marks": "name\nupdate_actor", "kernels": operators("ReluGrad")}, "training", "update", "update_actor"),
        ({"calls": calls("update_critic")}, "training", "update", "update_critic"),
        ({"marks": "name\nupdate_actor\ngenerate_sequences"}, "RL", "", "update_actor"),
        ({"marks": "name\ngenerate_sequences", "kernels": operators("ReluGrad")}, "RL", "", "generate_sequences"),
        ({"kernels": operators("ReluGrad"), "calls": calls(VERL, "vllm::unified")}, "RL", "", VERL),
        ({"calls": calls(VERL)}, "RL", "", VERL),
    ],
)
def test_of_reinforcement_learning_the_half_that_was_recorded_counts(
    tables: dict[str, str], workload: str, half: str, told_by: str
) -> None:
    found = kind_of(**tables)
    assert (found.workload, found.half) == (workload, half)
    assert next(sign for sign in found.signs if sign.about == "workload").name.startswith(told_by)


def test_what_verl_updates_is_driven_by_verl() -> None:
    assert kind_of(calls=calls("update_actor", "FullyShardedDataParallel.forward")).stack == "verl"


def test_a_mark_that_begins_like_one_of_verl_is_none() -> None:
    assert kind_of(calls=calls("update_actor_learning_rate", "generate_sequences_of_zeros")) == JobKind()


@pytest.mark.parametrize("name", ["FlashAttentionScore", "MatMulV2", "RmsNorm", "matmul_kernel", "InvertPermutation"])
def test_operators_of_any_job_tell_nothing(name: str) -> None:
    assert kind_of(kernels=operators(name)) == JobKind()


def test_whole_steps_of_layers_without_a_backward_pass_are_inference() -> None:
    layers = calls("aten::linear", "aten::addmm", "aten::native_layer_norm")
    assert kind_of(Run(steps=(1,)), calls=layers).workload == "inference"
    assert kind_of(Run(), calls=layers).workload == ""  # the window may end before the backward pass
    assert (
        kind_of(Run(steps=(1,)), calls=calls("aten::linear", "aten::conv2d", "Optimizer.step#AdamW.step")).workload
        == "training"
    )
    assert kind_of(Run(steps=(1,)), calls=calls("aten::addmm")).workload == ""  # an operator alone is no network


@pytest.mark.parametrize("layer", ["aten::linear", "aten::scaled_dot_product_attention", "npu::npu_rms_norm"])
def test_one_kind_of_layer_may_be_a_benchmark(layer: str) -> None:
    assert kind_of(Run(steps=(1,)), calls=calls(layer, "aten::mm", "aten::gelu")).workload == ""
    found = kind_of(Run(steps=(1,)), calls=calls(layer, "aten::embedding"))
    assert (found.workload, found.signs[0].name) == ("inference", f"{layer}, aten::embedding")


@pytest.mark.parametrize(
    ("name", "stack"),
    [
        ("vllm/v1/worker/gpu_model_runner.py(10): execute_model", "vLLM"),
        ("/usr/lib/python3/site-packages/vllm_ascend/worker/model_runner_v1.py(1): run", "vLLM"),
        ("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py(2): run_batch", "SGLang"),
        ("atb_llm/models/qwen2/flash_causal_qwen2.py(2): forward", "MindIE"),
        ("/work/Megatron-LM/megatron/core/pipeline_parallel/schedules.py(3): forward_step", "Megatron"),
        ("mindspeed_llm/training/training.py(3): train", "Megatron"),
        ("deepspeed/runtime/engine.py(3): forward", "DeepSpeed"),
        ("torch/distributed/fsdp/_runtime_utils.py(3): _unshard", "FSDP"),
        ("verl/workers/fsdp_workers.py(3): update_actor", "verl"),
        ("FullyShardedDataParallel.forward", "FSDP"),
        ("torch.distributed.ddp.reducer::copy_bucket_to_grad", "PyTorch"),
        ("/home/vllm/train.py(3): main", ""),
        ("/home/deepspeed/my/runtime.py(3): main", ""),
        ("notes/verl/readme.py(3): main", ""),
    ],
)
def test_lines_and_calls_name_the_stack(name: str, stack: str) -> None:
    assert kind_of(calls=calls(name)).stack == stack


def test_what_drives_another_stack_counts() -> None:
    found = kind_of(calls=calls("vllm/v1/engine/core.py(1): step", "verl/trainer/main_ppo.py(1): main"))
    assert (found.stack, found.workload) == ("verl", "RL")


def test_a_serving_stack_is_inference_and_a_variable_may_name_it() -> None:
    found = kind_of(settings="kind name value\nenv VLLM_USE_V1 1\nenv MINDIE_X ''")
    assert (found.stack, found.workload) == ("vLLM", "inference")
    assert {sign.seen_as for sign in found.signs} == {"setting"}


def test_sizes_that_the_training_framework_wrote_are_megatrons() -> None:
    assert kind_of(Run(parallel=Parallel(tp=2, source="distributed_args"))).stack == "Megatron"
    assert kind_of(Run(framework="MindSpore")).stack == "MindSpore"


def test_an_engine_that_serves_is_told_by_its_lines_whatever_wrote_the_sizes() -> None:
    run = Run(parallel=Parallel(tp=2, source="distributed_args"))
    assert kind_of(run, calls=calls("vllm/v1/engine/core.py(1): step")).stack == "vLLM"
    learns = kind_of(run, calls=calls("vllm/v1/engine/core.py(1): step"), kernels=operators("MatMulGrad"))
    assert learns.stack == "Megatron"


def test_what_the_user_says_counts_and_the_rest_is_still_inferred() -> None:
    run = Run(job=told_job("decode", ""))
    found = kind_of(run, kernels=operators("PromptFlashAttention", "vllm::moe_forward"))
    assert (found.workload, found.phase, found.stack) == ("inference", "decode", "vLLM")
    assert [(sign.about, sign.seen_as) for sign in found.signs] == [("workload", "told"), ("stack", "operator")]


def test_an_unknown_workload_or_stack_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="serving"):
        told_job("playing", "")
    with pytest.raises(UsageError, match="Megatron"):
        told_job("", "Keras")


def test_the_words_for_jobs_stand_alike_wherever_they_are_listed() -> None:
    assert cli_words.STACKS == STACKS == get_args(Stack)
    assert cli_words.WORKLOADS == tuple(TOLD_WORKLOADS) == get_args(ToldWorkload)
    assert {kind.workload for kind in TOLD_WORKLOADS.values()} == set(get_args(job.Workload)) - {""}
    assert {kind.half for kind in TOLD_WORKLOADS.values()} == set(get_args(job.Half))


@pytest.mark.parametrize(
    ("capture", "told"),
    [
        ("published_tables/glm_ocr_vllm_decode/stock_fia", ("inference", "", "vLLM")),
        ("published_tables/glm_ocr_vllm_decode/forced_paged", ("inference", "decode", "vLLM")),
        ("published_tables/lgm_950pr", ("", "", "")),
        ("published_tables/tinymlp_910b3/torch_npu_api", ("", "", "")),
        ("published_tables/mindformers_24l_dp8_ascend_ms", ("", "", "MindSpore")),
        ("gpu_kineto_models/h100_qwen1.5-0.5b.json.gz", ("inference", "", "")),
        ("gpu_kineto_models/h100_vit_classifier.json.gz", ("inference", "", "")),
        ("gpu_kineto_models/b200_eager.json.gz", ("inference", "prefill", "vLLM")),
        ("gpu_kineto_models/vllm_piecewise_graph_execution.json.gz", ("inference", "mixed", "vLLM")),
        ("gpu_kineto_models/sglang_qwen3-8b_prefilldecode.json.gz", ("inference", "prefill", "SGLang")),
        ("msinsight_pytorch_matrix/text/level0", ("training", "", "PyTorch")),
        ("msinsight_pytorch_matrix/db/level2", ("training", "", "PyTorch")),
        ("msprof_analyze_tests/ut/advisor/advisor_backend/compute_advice", ("training", "", "")),
        ("helix_fixtures/standalone_real_output", ("", "", "")),
    ],
)
def test_real_captures_are_what_they_are(
    capture: str, told: tuple[str, str, str], real_data: Path, shared: SharedCaptures
) -> None:
    if not (real_data / capture).exists():
        pytest.skip("this capture is not in the folder of real data")
    found = shared.diagnosis(real_data / capture).run.job
    assert (found.workload, found.phase, found.stack) == told


def test_the_python_api_is_told_like_the_command_line(real_data: Path) -> None:
    folder = real_data / "published_tables" / "lgm_950pr"
    if not folder.is_dir():
        pytest.skip("this capture is not in the folder of real data")
    run = advisor.diagnose(folder, workload="decode", stack="MindIE").run
    assert (run.job.workload, run.job.phase, run.job.stack) == ("inference", "decode", "MindIE")


KEEPS = operators("FusedInferAttentionScore", "ReshapeAndCacheNdKernel")
"""Operators of generating that tell no phase."""


def engine_of(rows: str, run: Run | None = None, kernels: str = KEEPS) -> JobKind:
    signs = job_signs(read_table(Kernel, kernels), None, None, None, None)
    head = "rank engine_phase by steps requests tokens apart_us idle_us"
    return infer_job(run or Run(), signs, read_table(EngineStep, f"{head}\n{rows}"))


@pytest.mark.parametrize(
    ("phases", "phase"),
    [
        (["decode"], "decode"),
        (["prefill"], "prefill"),
        (["decode", "prefill"], "mixed"),
        (["decode", "mixed"], "mixed"),
        (["decode", "unknown"], ""),
        ([], ""),
    ],
)
def test_sizes_tell_the_phase_where_names_do_not(phases: list[str], phase: str) -> None:
    assert engine_of("\n".join(f"0 {one} repetition 5 8 8 100 1" for one in phases)).phase == phase


def test_names_tell_the_phase_before_sizes_do() -> None:
    assert engine_of("0 decode repetition 5 8 8 100 1", kernels=operators("PromptFlashAttention")).phase == "prefill"


def test_what_the_user_tells_stays() -> None:
    told = Run(job=told_job("prefill", ""))
    assert engine_of("0 decode repetition 5 8 8 100 1", told).phase == "prefill"


def test_a_training_has_no_steps_of_an_engine() -> None:
    found = engine_of("0 decode repetition 5 8 8 100 1", Run(job=told_job("training", "")))
    assert (found.engine, found.phase) == ((), "")


def test_steps_of_all_ranks_are_one_row_for_each_phase() -> None:
    rows = "0 decode marks 5 8 8 100 1\n1 decode marks 7 8 8 300 -\n1 prefill marks 1 2 900 - -"
    decode, prefill = engine_of(rows).engine
    assert (decode.phase, decode.ranks, decode.steps, decode.apart_us, decode.idle_us) == ("decode", 2, 6, 200, 1)
    assert (prefill.phase, prefill.ranks, prefill.requests, prefill.apart_us) == ("prefill", 1, 2, None)


@pytest.mark.parametrize("name", ["aten::empty", "c10d::allreduce_"])
def test_operators_of_torch_tell_the_framework_where_its_description_is_gone(name: str) -> None:
    assert framework_of(Run(), name) == "PyTorch"
    assert framework_of(Run(), "MatMul") == ""
    assert framework_of(Run()) == ""


@pytest.mark.parametrize("stack", ["PyTorch", "FSDP", "DeepSpeed"])
def test_a_stack_of_torch_alone_tells_the_framework(stack: str) -> None:
    assert framework_of(Run(job=told_job("", stack))) == "PyTorch"


@pytest.mark.parametrize("stack", ["vLLM", "SGLang", "MindIE", "Megatron", "verl", "AscendCL"])
def test_a_stack_that_drives_more_than_one_framework_tells_none(stack: str) -> None:
    assert framework_of(Run(job=told_job("", stack))) == ""


def test_what_the_files_say_of_the_framework_counts_more_than_any_operator() -> None:
    assert framework_of(Run(framework="MindSpore"), "aten::empty") == "MindSpore"
    assert framework_of(Run(job=told_job("", "MindSpore"))) == "MindSpore"


def test_no_framework_is_told_of_what_msprof_recorded_for_it_hears_none_of_its_words() -> None:
    run = Run(captures=(Capture(rank=0, path="", recorder="msprof", source="text"),))
    assert framework_of(run.model_copy(update={"job": told_job("", "PyTorch")})) == ""


def test_a_folder_of_results_alone_has_the_remedies_of_its_framework(shared: SharedCaptures, tmp_path: Path) -> None:
    whole = shared.written("host-bound", small=True)
    results = next(whole.rglob("ASCEND_PROFILER_OUTPUT"))
    (tmp_path / results.name).symlink_to(results)
    found = advisor.diagnose(tmp_path / results.name)
    assert found.run.framework == "PyTorch"
    assert "not known for this run: framework" not in found.model_dump_json()
