# SPDX-License-Identifier: Apache-2.0
"""Trains a small model on an Ascend NPU. With --profile DIR it records ten steps and stops.

python train.py                    # trains
torchrun --nproc_per_node 8 train.py --profile prof
"""

import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch_npu

SKIPPED, WARMUP, RECORDED = 10, 1, 10
"""Compilation and caches settle in the first steps; the profiler wants one more before it records."""


def recording(folder):
    """The profiler: ten steps of every rank go into one folder each below `folder`."""
    profiler = torch_npu.profiler
    return profiler.profile(
        activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
        schedule=profiler.schedule(wait=0, warmup=WARMUP, active=RECORDED, repeat=1, skip_first=SKIPPED),
        on_trace_ready=profiler.tensorboard_trace_handler(folder),
        experimental_config=profiler._ExperimentalConfig(
            profiler_level=profiler.ProfilerLevel.Level1,
            aic_metrics=profiler.AiCMetrics.PipeUtilization,
        ),
    )


def train(steps, recorder):
    """The loop. `recorder` is told after each step, if there is one."""
    rank = int(os.environ.get("LOCAL_RANK", "0"))
    torch.npu.set_device(rank)
    model = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, batch_first=True).npu().bfloat16()
    if dist.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(8, 2048, 1024, dtype=torch.bfloat16, device="npu")
    for _ in range(steps):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        if recorder is not None:
            recorder.step()


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--steps", type=int, default=1000)
    words.add_argument("--profile", metavar="DIR", help="record ten steps into this folder and stop")
    said = words.parse_args()
    if "RANK" in os.environ:  # set by torchrun
        dist.init_process_group("hccl")
    steps = SKIPPED + WARMUP + RECORDED if said.profile else said.steps
    with recording(said.profile) if said.profile else contextlib.nullcontext() as recorder:
        train(steps, recorder)


if __name__ == "__main__":
    main()
