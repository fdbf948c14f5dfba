# SPDX-License-Identifier: Apache-2.0
"""What each set of aic_metrics adds to the list of kernels, as the documentation of op_summary and msprof name it."""

from __future__ import annotations

import pytest

_SETS: dict[str, tuple[dict[str, str], dict[str, float]]] = {
    "ResourceConflictRatio": (
        {"aiv_vec_bankgroup_cflt_ratio": "0.1", "aiv_vec_bank_cflt_ratio": "0.2", "aiv_vec_resc_cflt_ratio": "0.3"},
        {"bank_group_share": 0.1, "bank_share": 0.2, "resource_share": 0.3},
    ),
    "ResourceConflictRatio without two kinds of core": (
        {"vec_bankgroup_cflt_ratio": "0.1", "vec_bank_cflt_ratio": "0.2", "vec_resc_cflt_ratio": "0.3"},
        {"bank_group_share": 0.1, "bank_share": 0.2, "resource_share": 0.3},
    ),
    "L2Cache": (
        {"aic_write_cache_hit": "1", "aic_write_cache_miss_allocate": "2", "aic_r0_read_cache_hit": "4",
         "aic_r0_read_cache_miss_allocate": "8", "aic_r1_read_cache_hit": "16", "aic_r1_read_cache_miss_allocate": "32",
         "aiv_write_cache_hit": "64", "aiv_write_cache_miss_allocate": "128", "aiv_r0_read_cache_hit": "256",
         "aiv_r0_read_cache_miss_allocate": "512", "aiv_r1_read_cache_hit": "N/A",
         "aiv_r1_read_cache_miss_allocate": "N/A"},
        {"l2_hits": 1 + 4 + 16 + 64 + 256, "l2_misses": 2 + 8 + 32 + 128 + 512},
    ),
    "L2Cache of Ascend 950": (
        {"aic_read_local_l2_hit": "1", "aic_read_local_l2_miss": "2", "aic_read_local_l2_victim": "4",
         "aic_write_local_l2_hit": "8", "aic_write_local_l2_miss": "16", "aic_write_local_l2_victim": "32"},
        {"l2_hits": 9, "l2_misses": 54},
    ),
    "Memory": (
        {"aic_main_mem_read_bw(GB/s)": "1", "aiv_main_mem_read_bw(GB/s)": "2", "aic_main_mem_write_bw(GB/s)": "4",
         "aiv_main_mem_write_bw(GB/s)": "8", "aic_l2_read_bw": "16", "aiv_l2_read_bw": "32", "aic_l2_write_bw": "64",
         "aiv_l2_write_bw": "128", "aic_l1_read_bw(GB/s)": "256", "aic_l1_write_bw(GB/s)": "512",
         "aiv_ub_read_bw(GB/s)": "1024", "aiv_ub_write_bw(GB/s)": "2048"},
        {"memory_read_gbps": 3, "memory_write_gbps": 12, "l2_read_gbps": 48, "l2_write_gbps": 192, "l1_read_gbps": 256,
         "l1_write_gbps": 512, "ub_read_gbps": 1024, "ub_write_gbps": 2048},
    ),
    "MemoryL0": (
        {"aic_l0a_read_bw(GB/s)": "1", "aic_l0a_write_bw(GB/s)": "2", "aic_l0b_read_bw(GB/s)": "3",
         "aic_l0b_write_bw(GB/s)": "4", "aic_l0c_read_bw_cube(GB/s)": "5", "aic_l0c_write_bw_cube(GB/s)": "6",
         "aiv_l0c_read_bw(GB/s)": "0", "aiv_l0c_write_bw(GB/s)": "0"},
        {"l0a_read_gbps": 1, "l0a_write_gbps": 2, "l0b_read_gbps": 3, "l0b_write_gbps": 4, "l0c_read_gbps": 5,
         "l0c_write_gbps": 6, "l0c_vector_read_gbps": 0, "l0c_vector_write_gbps": 0},
    ),
    "MemoryL0 without two kinds of core": (
        {"l0c_read_bw(GB/s)": "7", "l0c_write_bw(GB/s)": "8", "l0c_read_bw_cube(GB/s)": "5"},
        {"l0c_vector_read_gbps": 7, "l0c_vector_write_gbps": 8, "l0c_read_gbps": 5},
    ),
    "MemoryUB": (
        {"aiv_ub_read_bw_vector(GB/s)": "1", "aiv_ub_write_bw_vector(GB/s)": "2", "aic_ub_read_bw_scalar(GB/s)": "3",
         "aiv_ub_read_bw_scalar(GB/s)": "4", "aiv_ub_write_bw_scalar(GB/s)": "5", "aiv_ub_fixp2ub_write_bw(GB/s)": "6"},
        {"ub_vector_read_gbps": 1, "ub_vector_write_gbps": 2, "ub_scalar_read_gbps": 7, "ub_scalar_write_gbps": 5,
         "ub_result_write_gbps": 6},
    ),
    "MemoryAccess": (
        {"aic_read_main_memory_datas(KB)": "1", "aiv_read_main_memory_datas(KB)": "2",
         "aic_write_main_memory_datas(KB)": "3", "aic_GM_to_L1_datas(KB)": "4", "aic_L0C_to_L1_datas(KB)": "5",
         "aic_L0C_to_GM_datas(KB)": "6", "aiv_GM_to_UB_datas(KB)": "7", "aiv_UB_to_GM_datas(KB)": "8"},
        {"memory_read_bytes": 3072, "memory_write_bytes": 3072, "memory_to_l1_bytes": 4096, "l0c_to_l1_bytes": 5120,
         "l0c_to_memory_bytes": 6144, "memory_to_ub_bytes": 7168, "ub_to_memory_bytes": 8192},
    ),
    "ArithmeticUtilization": (
        {"aic_mac_fp16_ratio": "0.1", "aic_mac_int8_ratio": "0.2", "aic_cube_fops": "3e9", "aiv_vec_fp32_ratio": "0.4",
         "aiv_vec_fp16_ratio": "0.5", "aiv_vec_int32_ratio": "0.6", "aiv_vec_misc_ratio": "0.7",
         "aiv_vector_fops": "8e9"},
        {"cube_half_share": 0.1, "cube_int8_share": 0.2, "cube_operations": 3e9, "vector_single_share": 0.4,
         "vector_half_share": 0.5, "vector_int32_share": 0.6, "vector_other_share": 0.7, "vector_operations": 8e9},
    ),
}  # fmt: skip
GIB = 1.073741824
"""What msprof calls GB, of 1024 bytes cubed."""
SETS_OF_COUNTERS: dict[str, tuple[dict[str, str], dict[str, float]]] = {
    name: (
        cells,
        {column: pytest.approx(value * GIB) if column.endswith("_gbps") else value for column, value in meant.items()},
    )
    for name, (cells, meant) in _SETS.items()
}
"""By set of aic_metrics: its columns with a value each, and what they mean."""
