# SPDX-License-Identifier: Apache-2.0
"""KernelCounters: the columns that sets of aic_metrics add to kernel_details.csv and op_summary, TASK_PMU_INFO in the
database, which holds the same numbers without the unit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor.facts.base import Column
from advisor.facts.observed import KernelCounters
from advisor.facts.table import Table, Values, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.counters import Counter, both_cores, counters_of_tasks, merged_counter
from advisor.sources.ascend.exact_moments import DETAILS
from advisor.sources.ascend.kernels import are_communication, communication_rows, with_plain_names
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.csvfile import RATES, headings_of
from advisor.sources.files.database import match_keys
from advisor.sources.reading import Reading

_KB = 1024.0

_CONFLICTS = {
    "bank_group_share": Counter((("aiv_vec_bankgroup_cflt_ratio", "vec_bankgroup_cflt_ratio"),)),
    "bank_share": Counter((("aiv_vec_bank_cflt_ratio", "vec_bank_cflt_ratio"),)),
    "resource_share": Counter((("aiv_vec_resc_cflt_ratio", "vec_resc_cflt_ratio"),)),
}
_HITS = ("write_cache_hit", "r0_read_cache_hit", "r1_read_cache_hit", "read_local_l2_hit", "write_local_l2_hit")
_MISSES = (
    *("write_cache_miss_allocate", "r0_read_cache_miss_allocate", "r1_read_cache_miss_allocate"),
    *("read_local_l2_miss", "write_local_l2_miss", "read_local_l2_victim", "write_local_l2_victim"),
)
_CACHE = {
    name: Counter(tuple(part for counter in counters for part in both_cores(counter)), adds=True)
    for name, counters in (("l2_hits", _HITS), ("l2_misses", _MISSES))
}
_BANDWIDTHS = {
    "memory_read_gbps": "main_mem_read_bw",
    "memory_write_gbps": "main_mem_write_bw",
    "l2_read_gbps": "l2_read_bw",
    "l2_write_gbps": "l2_write_bw",
    "l1_read_gbps": "l1_read_bw",
    "l1_write_gbps": "l1_write_bw",
    "ub_read_gbps": "ub_read_bw",
    "ub_write_gbps": "ub_write_bw",
    "ub_vector_read_gbps": "ub_read_bw_vector",
    "ub_vector_write_gbps": "ub_write_bw_vector",
    "ub_scalar_read_gbps": "ub_read_bw_scalar",
    "ub_scalar_write_gbps": "ub_write_bw_scalar",
    "l0a_read_gbps": "l0a_read_bw",
    "l0a_write_gbps": "l0a_write_bw",
    "l0b_read_gbps": "l0b_read_bw",
    "l0b_write_gbps": "l0b_write_bw",
    "l0c_read_gbps": "l0c_read_bw_cube",
    "l0c_write_gbps": "l0c_write_bw_cube",
    "l0c_vector_read_gbps": "l0c_read_bw",
    "l0c_vector_write_gbps": "l0c_write_bw",
    "ub_result_write_gbps": "ub_fixp2ub_write_bw",
}
_AMOUNTS = {
    "memory_read_bytes": "read_main_memory_datas",
    "memory_write_bytes": "write_main_memory_datas",
    "memory_to_l1_bytes": "GM_to_L1_datas",
    "memory_to_ub_bytes": "GM_to_UB_datas",
    "ub_to_memory_bytes": "UB_to_GM_datas",
    "l0c_to_l1_bytes": "L0C_to_L1_datas",
    "l0c_to_memory_bytes": "L0C_to_GM_datas",
}
_ARITHMETIC = {
    "cube_half_share": Counter((("aic_mac_fp16_ratio", "mac_fp16_ratio"),)),
    "cube_int8_share": Counter((("aic_mac_int8_ratio", "mac_int8_ratio"),)),
    "vector_single_share": Counter((("aiv_vec_fp32_ratio", "vec_fp32_ratio"),)),
    "vector_half_share": Counter((("aiv_vec_fp16_ratio", "vec_fp16_ratio"),)),
    "vector_int32_share": Counter((("aiv_vec_int32_ratio", "vec_int32_ratio"),)),
    "vector_other_share": Counter((("aiv_vec_misc_ratio", "vec_misc_ratio"),)),
    "cube_operations": Counter((("aic_cube_fops", "cube_fops"),)),
    "vector_operations": Counter((("aiv_vector_fops", "vector_fops"),)),
}
COUNTERS: Mapping[str, Counter] = {
    **_CONFLICTS,
    **_CACHE,
    **{name: Counter(both_cores(counter), adds=True, factor=RATES["gb/s"]) for name, counter in _BANDWIDTHS.items()},
    **{name: Counter(both_cores(counter), adds=True, factor=_KB) for name, counter in _AMOUNTS.items()},
    **_ARITHMETIC,
}
"""The counters behind each column of the fact. Names and units: documentation of op_summary, and msprof's source, which
divides bits per second by 8 × 1024³ for what it calls GB/s."""

_NAMES = {
    "op_name": ("Name", "Op Name"),
    "op_type": ("Type", "OP Type"),
    "core": ("Accelerator Core", "Task Type"),
    "duration_us": ("Duration(us)", "Task Duration(us)"),
}


def _counters_from_text(folder: Folder) -> Table[KernelCounters]:
    folder.need(KernelCounters, DETAILS)
    spelled = {
        spellings[0]: (spellings, KernelCounters.columns()[name])
        for name, counter in COUNTERS.items()
        for spellings in counter.parts
    }
    there = headings_of(folder.parts(DETAILS)[0], folder.notes)
    if not any(one.lower() in there for spellings, _ in spelled.values() for one in spellings):
        raise FactMissing([KernelCounters.table])
    headings = {**_NAMES, **{name: spellings for name, (spellings, _) in spelled.items()}}
    also: dict[str, Column] = {name: column for name, (_, column) in spelled.items()} | {"core": _CORE}
    columns = with_plain_names(folder.columns(KernelCounters, DETAILS, headings, ("op_name", "duration_us"), also))
    counted = {name: merged_counter(columns, counter) for name, counter in COUNTERS.items()}
    keep = ~communication_rows(columns)
    plain: dict[str, Values | None] = {name: columns.get(name) for name in ("op_name", "op_type", "duration_us")}
    return Table.build(KernelCounters, rank=np.full(len(keep), folder.rank), **plain, **counted).take(keep)


_CORE = Column("Core the kernel ran on.", "text")
_INFO = {"task": ["globalTaskId"], "name": ["name"], "type": ["opType"], "core": ["taskType"]}
_TASK = {"task": ["globalTaskId"], "start": ["startNs"], "end": ["endNs"]}


def _counters_from_database(folder: Folder) -> Table[KernelCounters]:
    database = folder.database()
    if not (database.has_rows("COMPUTE_TASK_INFO") and database.has_rows("TASK")):
        raise FactMissing([KernelCounters.table])
    info = database.integers("COMPUTE_TASK_INFO", _INFO)
    counted = counters_of_tasks(database, info["task"], COUNTERS)
    if not any((~np.isnan(values)).any() for values in counted.values()):
        raise FactMissing([KernelCounters.table])
    task = database.integers("TASK", _TASK, database.on_device("TASK", folder.rank))
    place = match_keys(task["task"], info["task"])
    lasted = values_at(task["end"], place) - values_at(task["start"], place)
    name = database.event_names(info["name"])
    keep = (place >= 0) & (lasted >= 0) & ~are_communication(name, database.texts(info["core"]), ())
    return Table.build(
        KernelCounters,
        rank=np.full(len(keep), folder.rank),
        op_name=name,
        op_type=database.texts(info["type"]),
        duration_us=lasted / 1000,
        **counted,
    ).take(keep)


KERNEL_COUNTERS = Reading(KernelCounters, {"text": _counters_from_text, "database": _counters_from_database})
