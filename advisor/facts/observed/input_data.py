# SPDX-License-Identifier: Apache-2.0
"""How batches reach the device: the operations that make them, and the queues between these and the network."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Key, Moment, Ns, Rank, Share, Step, Us, Volatile
from advisor.facts.observed.recording import DATA
from advisor.messages.text import Text


class BatchQueue(Fact):
    """How many batches lay in a queue when a step took one: MindSpore's profiler looks once for each step."""

    table = "batch_queues"
    called = Text("queues of batches", "batch 队列")
    record_with = DATA

    rank: Rank
    step: Step
    queue: Annotated[
        str,
        Key(
            "`host` (between the dataset and whoever sends its batches to the device) or `device` (what GetNext "
            "takes them from, where data is sunk)."
        ),
    ]
    sunk: Annotated[bool, Flag("Batches are sunk: they go to the device through a queue, ahead of the steps.")]
    size: Annotated[float, Count("Batches in the queue.")]
    capacity: Annotated[float, Count("Batches it has room for; missing for the queue on the device.")]
    taken_us: Annotated[
        float,
        Us(
            "How long a loop that takes its batches itself waited for this one, in whole ms; missing where batches are "
            "sunk."
        ),
    ]


class DataFetch(Fact):
    """One GetNext: the operator of the AI CPU that takes a batch from the queue of the device."""

    table = "data_fetches"
    called = Text("GetNext calls", "GetNext 调用")
    moment = Moment(lasts="duration_us", name=())
    record_with = DATA

    rank: Rank
    start_ns: Annotated[int, Ns("Device start.")]
    duration_us: Annotated[float, Us("How long it ran; where the queue is empty it waits.")]


class DatasetOperation(Fact):
    """One operation of a dataset pipeline, such as map or batch, and the queue of what it has made."""

    table = "dataset_operations"
    called = Text("operations of the dataset", "数据集的各个操作")
    record_with = DATA

    rank: Rank
    number: Annotated[int, Volatile("Its number; the last operation, which gives the batches, has the smallest.")]
    parent: Annotated[int, Volatile("Number of the operation that takes from its queue; missing for the last one.")]
    operation: Annotated[str, Key("Kind, such as MapOp or BatchOp; versions spell it with and without Op.")]
    workers: Annotated[float, Count("Threads or processes that do it (num_parallel_workers).")]
    queue_capacity: Annotated[float, Count("Rows its output queue has room for; missing without a queue.")]
    queue_mean: Annotated[float, Count("Rows in it on average over the samples.")]
    queue_share: Annotated[float, Share("The same over the capacity.")]
    empty_share: Annotated[float, Share("Part of the samples in which it was empty.")]


class HostCpu(Fact):
    """How busy the processors of the host were while one rank was recorded.

    With everything that ran there; where `host_sys` sampled them, with the process of the rank alone.
    """

    table = "host_cpus"
    called = Text("load of the host's processors", "host CPU 利用率")
    among_events = True
    record_with = DATA

    rank: Rank
    cores: Annotated[float, Count("Logical processors.")]
    busy_share: Annotated[float, Share("Neither idle nor waiting for files, mean over the samples and processors.")]
    waiting_share: Annotated[float, Share("Waiting for files, mean over the samples and processors.")]
