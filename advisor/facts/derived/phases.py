# SPDX-License-Identifier: Apache-2.0
"""The phases of MindSpore's steps and the way of the data to them."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Number, Rank, Share, Stage, Us, Volatile
from advisor.messages.text import Text


class BatchWait(Fact):
    """How long one rank waits for its batches, and how much of that the device is idle. Of batches that its loop takes
    itself, pauses count from the begin of a step on, as long as one takes, in which the host calls nothing that was
    recorded: a batch that is fetched while the device works costs nothing. Of batches that are sunk it is the idle time
    before the first work of a step. The first recorded step does not count.
    """

    table = "batch_waits"
    called = Text("times to get batches", "取 batch 的耗时")
    observed = False

    rank: Rank
    batches: Annotated[float, Count("Batches whose time was recorded.")]
    taken_us: Annotated[float, Us("Mean time to get one batch; missing where batches are sunk.")]
    waited_us: Annotated[float, Us("The idle part of it per step; of the whole capture where steps are not marked.")]


class RankPhase(Fact):
    """The mean step of one rank by phases, compared with its peers: the other captured ranks of the same pipeline
    stage.

    The first recorded step counts only where there is no other.
    """

    table = "rank_phases"
    called = Text("phases of steps", "迭代各阶段的时间")
    observed = False
    across_ranks = True

    rank: Rank
    stage: Stage
    layout: Annotated[str, Key("How the job is cut: `pipeline`, else `model`, else `data`; missing where not known.")]
    peers: Annotated[float, Count("Ranks of the same stage, itself not counted.")]
    whole_us: Annotated[float, Us("Step; missing where only queues were recorded, as what follows.")]
    interval_us: Annotated[float, Us("Iteration interval: until the forward pass begins.")]
    steps: Annotated[float, Count("Steps that count; 0 where only queues were recorded.")]
    longest_interval_us: Annotated[float, Us("The longest iteration interval.")]
    long_intervals: Annotated[
        float, Count("Number of iteration intervals longer than a quarter of that, itself counted.")
    ]
    forward_backward_us: Annotated[float, Us("Forward and backward pass.")]
    tail_us: Annotated[float, Us("From the last operator of the backward pass on.")]
    tail_comm_us: Annotated[float, Us("The part of the tail in which a collective runs; missing without collectives.")]
    receive_us: Annotated[float, Us("Waiting for another pipeline stage while the device does nothing else.")]
    collective_us: Annotated[float, Us("Other communication during which nothing computes.")]
    peer_interval_us: Annotated[float, Us("Median iteration interval of the peers.")]
    peer_forward_backward_us: Annotated[float, Us("Median forward and backward pass of the peers.")]
    peer_tail_us: Annotated[float, Us("Median tail of the peers.")]
    sunk: Annotated[
        bool,
        Flag(
            "Batches go to the device through a queue, ahead of the steps (data sinking). Of a rank whose queues were "
            "not recorded what those of all others say."
        ),
    ]
    some_wait: Annotated[
        bool,
        Flag("Only some of its steps wait for their batch, and the samples that follow are of these alone."),
    ]
    host_looks: Annotated[float, Count("Samples of the queue on the host; 0 where it was not sampled.")]
    host_empty_share: Annotated[float, Share("Share of these samples in which it was empty.")]
    device_looks: Annotated[float, Count("Samples of the queue on the device.")]
    device_empty_share: Annotated[float, Share("Share of these samples in which it was empty.")]
    fetch_us: Annotated[float, Us("Mean duration of GetNext; missing where none was recorded.")]
    batch_us: Annotated[float, Us("Mean time to get one batch from the dataset; missing where batches are sunk.")]
    batch_wait_us: Annotated[float, Us("The idle part of that per step (`batch_waits`); missing where not known.")]
    late_fetch_us: Annotated[float, Us("Per step: GetNext within iteration intervals, which it should run ahead of.")]
    busy_cpu_share: Annotated[float, Share("Processors of the host that were neither idle nor waiting for files.")]


class DatasetStage(Fact):
    """One operation of a dataset pipeline between its queues, with what is known of the steps that wait for it."""

    table = "dataset_stages"
    called = Text("operations of the dataset and their queues", "数据集各操作及其队列")
    observed = False

    rank: Rank
    number: Annotated[int, Volatile("Its number; the last operation of the pipeline has the smallest.")]
    operation: Annotated[str, Key("Kind, such as MapOp or BatchOp.")]
    workers: Annotated[float, Count("Threads or processes that do it.")]
    reads: Annotated[bool, Flag("Whether it reads the data: no operation precedes it.")]
    last: Annotated[bool, Flag("Whether no operation with a queue follows it.")]
    input_share: Annotated[float, Share("How full the emptiest queue it takes from is; missing for one that reads.")]
    output_share: Annotated[float, Share("How full its own queue is; missing where it has none.")]
    empty_share: Annotated[float, Share("Part of the samples in which its own queue was empty.")]
    fullest_after_share: Annotated[float, Share("How full the fullest queue from its own on is.")]
    emptiest_before_share: Annotated[float, Share("How full the emptiest queue before it is.")]
    host_empty_share: Annotated[float, Share("Share of the samples in which the queue behind the dataset was empty.")]
    device_empty_share: Annotated[
        float, Share("Share of the samples in which the queue on the device was empty; missing where not known.")
    ]
    interval_us: Annotated[float, Us("Iteration interval of the rank.")]
    busy_cpu_share: Annotated[float, Share("Processors of the host that were neither idle nor waiting for files.")]


class StageFlops(Fact):
    """How much the ranks of one pipeline stage compute in a step, as the profiler counted it."""

    table = "stage_flops"
    called = Text("floating-point operations of stages", "各 stage 的浮点计算量")
    observed = False
    across_ranks = True

    stage: Annotated[int, Index("Stage, from 0.")]
    stages: Annotated[float, Count("Stages of which it was counted.")]
    mega_flops: Annotated[float, Number("Floating-point operations of a step, in millions, mean over its ranks.")]
    average_mega_flops: Annotated[float, Number("Mean of all stages.")]
    lowest_mega_flops: Annotated[float, Number("Those of the stage with the fewest.")]
    heaviest: Annotated[bool, Flag("No stage has more.")]
