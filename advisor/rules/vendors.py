# SPDX-License-Identifier: Apache-2.0
"""Words by which remedies name what only some runs have: a family of devices, a framework, a stack, a kind of job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

WORDS: Mapping[str, re.Pattern[str]] = {
    "device_family": re.compile(
        r"torch_npu|torch\.npu|npu-smi|\bnpu\b|\bNPU\b|\bnpu_\w+|\bNpu[A-Z]\w*|hccn_tool|msprof|\bCANN\b|Ascend|昇腾"
        r"|\bHCCL\w*|\bhccl\b|\bacl(rt|op|nn)\w*|\b(ASCEND|ACLNN|ACL|PYTORCH_NPU)_\w+|TASK_QUEUE_ENABLE|CPU_AFFINITY_CONF"
    ),
    "framework": re.compile(
        r"torch_npu|torch\.npu|\"npu\"|\bnpu_\w+|\bNpu[A-Z]\w*|NPUGraph|ASCEND_LAUNCH_BLOCKING|ACL_OP_COMPILER\w*"
        r"|PYTORCH_NPU_\w+|TASK_QUEUE_ENABLE|CPU_AFFINITY_CONF|\b[Tt]orch\b|PyTorch|\bDataLoader\b|\baten::|\.backward\("
        r"|\bno_sync\b|DistributedDataParallel|\bDDP\b|non_blocking|pin_memory|\bnn\.Module\b|convert_sync_batchnorm"
        r"|\bmindspore\."
    ),
    "recorder": re.compile(r"\bmsprof --"),
    "workload": re.compile(
        r"[Oo]ptimi[sz]er\b|\boptim\.|NpuFused|[Gg]radient|\.backward\(|DistributedDataParallel|\bDDP\b|no_sync|ZeRO"
        r"|[Mm]icro-?[Bb]atch|[Rr]ecompute|find_unused|SyncBatchNorm|--manual-gc|--overlap-|--moe-fb"
        r"|\btraining (loop|step|thread)|优化器|梯度|反向|重计算|训练(循环|线程|步)"
    ),
    "stack": re.compile(
        r"--(?!output=|task-time|ai-core|aic-metrics|ascendcl=|msproftx=|export=|analyze=|clear=|rule=|only\b|rank_id\b"
        r"|top_num\b|privileged\b|chip\b|jobs\b|on dask|rank-limit\b|memory-limit\b|mem-per-cpu\b|nthreads\b)"
        r"[a-z][\w-]+|\bMegatron|\bMindSpeed|\bDeepSpeed|\bvLLM|\bSGLang|\bMindIE"
        r"|\b(VLLM|SGLANG|MINDIE|ATB)_\w+|\bDDP\b|DistributedDataParallel|no_sync\b|\bFSDP"
    ),
}
"""By the name of the run that a remedy with such words has to ask for. Those of torch_npu ask for both."""
TELLS: Mapping[str, frozenset[str]] = {"framework": frozenset({"framework", "stack"})}
"""By such a name: what else tells it. A stack has one framework."""


def named_tools(text: str) -> Iterator[tuple[str, str]]:
    """The names of the run that a text depends on, each with the word that shows it."""
    for name, words in WORDS.items():
        if found := words.search(text):
            yield name, found[0]
