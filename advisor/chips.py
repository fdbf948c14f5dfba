# SPDX-License-Identifier: Apache-2.0
"""Chips: what is known of each by its name, with the source of every number, and how people write the names.

Clocks, cores and the level-2 cache are `cube_freq`, `ai_core_cnt`, `vector_core_cnt` and `l2_size` of CANN's own
`data/platform_config/<chip>.ini` (<https://github.com/hicann/runtime>, folder `src/platform/platform_config`). Memory
is what `npu-smi info` shows on machines with the chip, in MB of 1024² bytes, or what that file says where nothing
contradicts it. What has no source is left out, and so is what sources disagree on, but for the rates, where less is the
safe side: a share of too low a peak is too high, and what is lost below it too little.

The peak of the cube unit of an Ascend is its cores times their clock times the multiply-adds of a cycle, two operations
each. `tensor_cast/device.py` of <https://github.com/Ascend/msmodeling> lists more for float16 (376, 313 and 280 TFLOP/s
where this gives 354, 295 and 246) and the same for bfloat16.

The peak of the vector units of an Ascend is their cores times their clock times the values that an instruction takes in
a cycle, two operations each, as of a multiply-add: 128 values of float16 (`vec_calc_size` of the .ini) and 64 of
float32, which msprof counts by in its `vector_fops`. `gp_ops` of msmodeling are 22, 18 and 16 TFLOP/s in float16 and
half of that in float32, where this gives 22, 18 and 15. Its bfloat16 is as fast as float16, but arithmetic of Atlas A2
and A3 knows no bfloat16 (`VectorCoreintrinsicDtypeMap` of their .ini), which is widened to float32. Left out for want
of an honest number: Ascend310P3, whose vector units are in AI Cores and in cores of another clock; and what
exponentials and roots take, which is said nowhere. Of GPUs the FLOAT of `tflops` is what their vector units do.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message

_GIB = 1024.0**3
_MIB = 1024.0**2


DTYPES = ("FLOAT16", "BF16", "FLOAT", "HF32", "INT8", "INT4", "FP8")
"""Data types of products whose peak may be known, as `plain_dtype` calls them; HF32 is FLOAT rounded for speed."""

VECTOR_DTYPES = ("FLOAT16", "BF16", "FLOAT")
"""Those of the vector units."""


def peak_of_cores(mhz: float, macs: float) -> float:
    """10^12 operations per second of cores that count so many MHz together, by their multiply-adds in a cycle."""
    return mhz * 2 * macs / 1e6


class Chip(Struct, frozen=True):
    """One chip, or a family of them: all that its name tells."""

    name: str
    family: str = ""
    """The family that captures name in its place."""
    nominal_mhz: float = math.nan
    """Clock its AI Cores were built for; of a family the least of its members. NaN where unknown."""
    memory_bytes: float = math.nan
    """Device memory; of a family only where all members agree. NaN where unknown."""
    cube_cores: float = math.nan
    """Cores with a cube unit, or what a GPU has in their place; of a family the fewest, as all that follows."""
    vector_cores: float = math.nan
    """Cores of the vector units, where they are apart; NaN elsewhere."""
    memory_gbps: float = math.nan
    """Bandwidth of the device memory, 10^9 bytes per s."""
    l2_bytes: float = math.nan
    """Level-2 cache."""
    links: Mapping[str, float] = {}
    """Bandwidth of one link in one direction, 10^9 bytes per s by its kind: HCCS, SIO, RDMA, NVLink. It is what
    measurements reach where that is far below what the link was built for."""
    macs: Mapping[str, int] = {}
    """Multiply-adds of one core in a cycle, by data type."""
    lanes: Mapping[str, int] = {}
    """Values that the vector unit of one core takes in a cycle, by data type; others are widened to FLOAT first."""
    tflops: Mapping[str, float] = {}
    """Peak of dense matrix products where cores and clock do not give it, 10^12 operations per s by data type."""
    vector_tflops: Mapping[str, float] = {}
    """Peak of the vector units where cores and clock do not give it, 10^12 operations per s by data type."""
    achieved_tflops: Mapping[str, float] = {}
    """The most that products were measured to reach, where whoever makes it publishes that: such a chip slows down long
    before its peak."""

    @property
    def peaks(self) -> Mapping[str, float]:
        """Peak of dense matrix products at the nominal clock, 10^12 operations per s by data type; where known."""
        counted = {dtype: peak_of_cores(self.cube_cores * self.nominal_mhz, macs) for dtype, macs in self.macs.items()}
        return self.tflops or {dtype: peak for dtype, peak in counted.items() if peak > 0}


_CUBE = {"FLOAT16": 4096, "INT8": 8192}
"""16 x 16 x 16, and `DtypeMKN` of the .ini: DT_INT8=16,32,16."""
CUBE_OF_A2 = {**_CUBE, "BF16": 4096, "INT4": 16384, "FLOAT": 1024}
"""Cores of Atlas A2 and A3: `support_bf16` of their .ini. FLOAT: the 99.5, 83 and 75 TFLOP/s of msmodeling are a
quarter of its FLOAT16 and what the vector cores add. What HF32 reaches is said nowhere.
"""
LANES_OF_ASCEND = {"FLOAT16": 128, "FLOAT": 64}
_LINKS_OF_910A = {"HCCS": 18.0, "RDMA": 12.5}
"""`StandardBandWidth` of msprof for this chip (`CHIP_V2_1_0`), against which it counts the use of bandwidth; public
captures reach 16 to 19 over HCCS. Its 20 of PCIE is held against nothing, for no capture is there to tell."""
_LINKS_OF_A2 = {"HCCS": 18.0, "RDMA": 25.0}
"""RDMA: the port of 200 Gb/s by msprof (`CHIP_V4_1_0`) and `A2_INTERCONNECT` of msmodeling; public captures reach 24.
HCCS: both give 28 (196 to seven peers), which nothing reaches. HIXL, the transfer library of CANN, publishes 19 to 20
for writes and 25 to 27 for reads of 1 MiB and more (`benchmarks/performance.md` of <https://github.com/hicann/hixl>),
and collectives of public captures reach 16 to 19: so what is expected is that of the older chips.
"""
_LINKS_OF_A3 = {"SIO": 106.0, "RDMA": 25.0}
"""SIO: the least that any version of HIXL publishes for 1 MiB and more between devices 0 and 1 of a server, the two
dies of one module: 106 to 148 first, later 144 to 165. `A3_INTERCONNECT` of msmodeling has 224, which no copy reaches
there. RDMA: 200 Gb/s for each die, of which HIXL reaches 23 to 24, as on Atlas A2. HCCS is left out: its 196
(msmodeling; HIXL reaches 72 to 143 to one peer in another server) are those of one switched port, which all peers
share, so what one transfer reaches depends on how many there are at a time.
"""
_LINKS_OF_A100 = {"NVLink": 300.0}
_LINKS_OF_H100 = {"NVLink": 450.0}
"""NVLink: what one device of a board with NVSwitch sends over all of its links together. Of 450 NCCL reaches some 370,
and reductions in the switch show 480: <https://github.com/NVIDIA/nccl-tests/issues/212>, and for the H200
<https://github.com/NVIDIA/nccl-tests/issues/272>. Of the 300 of an A100 about 200 are seen:
<https://github.com/NVIDIA/nccl-tests/issues/149>. Without NVSwitch, as between V100, it depends on the pair.
"""
_V100 = {"FLOAT16": 125.0, "FLOAT": 15.7}
_A100 = {"FLOAT16": 312.0, "BF16": 312.0, "FLOAT": 19.5, "INT8": 624.0}
_H100 = {"FLOAT16": 989.4, "BF16": 989.4, "FLOAT": 66.9, "INT8": 1978.9, "FP8": 1978.9}
_H20 = {"FLOAT16": 148.0, "BF16": 148.0, "FLOAT": 44.0, "INT8": 296.0, "FP8": 296.0}
_L40S = {"FLOAT16": 362.0, "BF16": 362.0, "FP8": 733.0}
_H100_PCIE = {"FLOAT16": 756.5, "BF16": 756.5, "FLOAT": 51.0, "INT8": 1513.0, "FP8": 1513.0}
_T4 = {"FLOAT16": 65.1, "FLOAT": 8.1, "INT8": 130.2}
_RTX4090 = {"FLOAT16": 165.1, "BF16": 165.1, "FLOAT": 82.5, "INT8": 660.6, "FP8": 330.3}
_B200 = {"FLOAT16": 2250.0, "BF16": 2250.0, "FLOAT": 75.0, "INT8": 4500.0, "FP8": 4500.0}
_MI300X = {"FLOAT16": 1300.0, "BF16": 1300.0, "INT8": 2600.0, "FP8": 2600.0}
_MI300X_ACHIEVED = {"FLOAT16": 654.0, "BF16": 708.0, "FP8": 1273.0}
"""https://rocm.blogs.amd.com/software-tools-optimization/measuring-max-achievable-flops-part2/README.html"""
_A5 = {"FLOAT16": 378.0, "BF16": 378.0, "INT8": 756.0, "FP8": 756.0}
"""The smaller of two in msmodeling; its FLOAT is that of HF32."""
_VECTORS_OF_A5 = {"FLOAT16": 47.0, "BF16": 47.0, "FLOAT": 24.0}


def _of_220(
    name: str,
    family: str,
    clock: float,
    memory: float,
    *,
    cores: int,
    gbps: float,
    l2: float,
) -> Chip:
    """A chip with the cores of Atlas A2 and A3: two vector cores to each cube core."""
    links = _LINKS_OF_A2 if "910B" in name else _LINKS_OF_A3
    lanes = LANES_OF_ASCEND
    return Chip(name, family, clock, memory * _GIB, cores, 2.0 * cores, gbps, l2 * _MIB, links, CUBE_OF_A2, lanes)


CHIPS = (
    # 32768 MB: device-configmap.yaml of https://github.com/Project-HAMi/HAMi. 1.2 TB/s of four stacks of HBM2: Liao et
    # al., Ascend: a Scalable and Unified Architecture, https://ieeexplore.ieee.org/document/9407221
    Chip(
        "Ascend910A",
        "",
        1000.0,
        32 * _GIB,
        32,
        memory_gbps=1200.0,
        l2_bytes=32 * _MIB,
        links=_LINKS_OF_910A,
        macs=_CUBE,
        lanes=LANES_OF_ASCEND,
    ),
    # the family of Atlas A2: 32 and 64 GB. Bandwidth of all: 1.6 and 0.8 TB/s in device.py of msmodeling, which counts
    # in 1024^4 bytes where others count in 10^12
    _of_220("Ascend910B", "", 1500.0, math.nan, cores=20, gbps=800.0, l2=96),
    _of_220("Ascend910B1", "Ascend910B", 1850.0, 64, cores=24, gbps=1600.0, l2=192),
    # 65536 MB: device-configmap.yaml of https://github.com/Project-HAMi/HAMi
    _of_220("Ascend910B2", "Ascend910B", 1800.0, 64, cores=24, gbps=1600.0, l2=192),
    # 64 GB: https://github.com/hearth-project/hearth/releases/tag/v0.2.0-rc.1
    _of_220("Ascend910B2C", "Ascend910B", 1800.0, 64, cores=24, gbps=1600.0, l2=192),
    # 65536 MB: https://github.com/vllm-project/vllm-ascend/issues/1903
    _of_220("Ascend910B3", "Ascend910B", 1800.0, 64, cores=20, gbps=1600.0, l2=192),
    # 32768 MB: https://github.com/Project-HAMi/HAMi/issues/1860
    _of_220("Ascend910B4", "Ascend910B", 1500.0, 32, cores=20, gbps=800.0, l2=96),
    # 65536 MB: https://github.com/Project-HAMi/HAMi-WebUI/issues/47; its .ini repeats the 32 GiB of Ascend910B4
    _of_220("Ascend910B4-1", "Ascend910B", 1500.0, 64, cores=20, gbps=1600.0, l2=168),
    # the family of Atlas A3; each of two dies is a device of its own
    _of_220("Ascend910_93", "", 1500.0, math.nan, cores=20, gbps=1600.0, l2=168),
    # 65536 MB per device: https://github.com/vllm-project/vllm-ascend/issues/2534
    _of_220("Ascend910_9391", "Ascend910_93", 1850.0, 64, cores=24, gbps=1600.0, l2=192),
    _of_220("Ascend910_9392", "Ascend910_93", 1850.0, 64, cores=24, gbps=1600.0, l2=192),
    _of_220("Ascend910_9381", "Ascend910_93", 1800.0, 64, cores=24, gbps=1600.0, l2=192),
    _of_220("Ascend910_9382", "Ascend910_93", 1800.0, 64, cores=24, gbps=1600.0, l2=192),
    _of_220("Ascend910_9372", "Ascend910_93", 1800.0, 64, cores=20, gbps=1600.0, l2=192),
    # 32 GiB by its .ini, which has that of Ascend910B4-1 wrong too
    _of_220("Ascend910_9362", "Ascend910_93", 1500.0, math.nan, cores=20, gbps=1600.0, l2=168),
    Chip("Ascend310"),
    Chip("Ascend310B"),
    Chip("Ascend310P"),
    # 24e9 bytes by its .ini, 21527 MB by npu-smi. Half of the 408 GB/s that Atlas 300I Duo has for two of them:
    # https://avalanchenoticias.com.br/servidores-clusters-supercomputadores-computadores-industriais-e-multiprocessadores/o-acelerador-huawei-atlas-300i-duo-e-equipado-com-um-par-de-chips-ascend-310-ai
    Chip("Ascend310P3", "Ascend310P", 1060.0, math.nan, 8, memory_gbps=204.0, l2_bytes=16 * _MIB, macs=_CUBE),
    # 1650 MHz in all its files; cores and memory differ among them. Rates: the smaller of those in msmodeling
    Chip("Ascend950", "", 1650.0, memory_gbps=1400.0, tflops=_A5, vector_tflops=_VECTORS_OF_A5),
    # GPUs, by the names that PyTorch records; dense peaks; traces hold how much memory they have. V100:
    # https://www.nvidia.com/en-us/data-center/v100/ and
    # http://www.xenon.com.au/nvidia-tesla-volta-worlds-advanced-data-center-gpu/
    *(
        Chip(f"Tesla V100-{name}", cube_cores=80, memory_gbps=900.0, l2_bytes=6 * _MIB, tflops=_V100)
        for name in ("SXM2-16GB", "SXM2-32GB", "DGXS-32GB")
    ),
    # A100:
    # https://glennklockwood.com/garden/processors/A100 and
    # https://www.thundercompute.com/blog/nvidia-a100-specs-full-guide
    Chip(
        "NVIDIA A100-SXM4-40GB",
        cube_cores=108,
        memory_gbps=1555.0,
        l2_bytes=40 * _MIB,
        tflops=_A100,
        links=_LINKS_OF_A100,
    ),
    Chip(
        "NVIDIA A100-SXM4-80GB",
        cube_cores=108,
        memory_gbps=2039.0,
        l2_bytes=40 * _MIB,
        tflops=_A100,
        links=_LINKS_OF_A100,
    ),
    # https://sysrqmts.com/gpus/compare/nvidia-a100-pcie-vs-nvidia-tegra-4-gpu
    Chip("NVIDIA A100-PCIE-40GB", cube_cores=108, memory_gbps=1555.0, l2_bytes=40 * _MIB, tflops=_A100),
    Chip("NVIDIA A100 80GB PCIe", cube_cores=108, memory_gbps=1935.0, l2_bytes=40 * _MIB, tflops=_A100),
    # https://glennklockwood.com/garden/processors/h100 and https://archive-lib.hpctech.co.jp/gpuproduct/nvidia-h100.html
    Chip(
        "NVIDIA H100 80GB HBM3",
        cube_cores=132,
        memory_gbps=3350.0,
        l2_bytes=50 * _MIB,
        tflops=_H100,
        links=_LINKS_OF_H100,
    ),
    Chip("NVIDIA H100 PCIe", cube_cores=114, memory_gbps=2000.0, l2_bytes=50 * _MIB, tflops=_H100_PCIE),
    Chip("NVIDIA H200", cube_cores=132, memory_gbps=4800.0, l2_bytes=50 * _MIB, tflops=_H100, links=_LINKS_OF_H100),
    # those of A100 and H100 with slower links between devices, and next to no float64
    Chip("NVIDIA A800-SXM4-80GB", cube_cores=108, memory_gbps=2039.0, l2_bytes=40 * _MIB, tflops=_A100),
    Chip("NVIDIA H800", cube_cores=132, memory_gbps=3350.0, l2_bytes=50 * _MIB, tflops=_H100),
    # https://hmc-tech.com/gpu/nvidia-a16-vs-nvidia-t4 and
    # https://sysrqmts.com/gpus/compare/nvidia-a100-sxm4-40-gb-vs-nvidia-tesla-t4
    Chip("Tesla T4", cube_cores=40, memory_gbps=320.0, l2_bytes=4 * _MIB, tflops=_T4),
    # https://waredb.com/processor/nvidia-geforce-rtx-4090
    Chip("NVIDIA GeForce RTX 4090", memory_gbps=1008.0, l2_bytes=72 * _MIB, tflops=_RTX4090),
    # https://zangshuxian.com/new/674733024499207168
    Chip("NVIDIA H20", cube_cores=78, memory_gbps=4000.0, tflops=_H20),
    # http://llmbook.apartsin.com/appendices/appendix-g-hardware-compute/section-g.1.html
    Chip("NVIDIA L40S", memory_gbps=864.0, tflops=_L40S),
    # https://hmc-tech.com/gpus/nvidia-a100-sxm-vs-nvidia-b200; others say 8 TB/s
    Chip("NVIDIA B200", cube_cores=148, memory_gbps=7700.0, tflops=_B200),
    # https://rocm.docs.amd.com/en/latest/reference/gpu-specs.html, and for the rates
    # https://www.jaredwatkins.com/research/ai-accelerators/amd-instinct/mi300-series/
    Chip(
        "AMD Instinct MI300X",
        memory_bytes=192 * _GIB,
        cube_cores=304,
        memory_gbps=5300.0,
        l2_bytes=32 * _MIB,
        tflops=_MI300X,
        achieved_tflops=_MI300X_ACHIEVED,
    ),
)
"""All chips with a name that captures or users give."""

ALIASES = {
    "910c": "Ascend910_93",
    "a2": "Ascend910B",
    "a3": "Ascend910_93",
    "a100": "NVIDIA A100-SXM4-40GB",
    "a800": "NVIDIA A800-SXM4-80GB",
    "h100": "NVIDIA H100 PCIe",
    "h20": "NVIDIA H20",
    "h200": "NVIDIA H200",
    "h800": "NVIDIA H800",
    "l40s": "NVIDIA L40S",
    "rtx4090": "NVIDIA GeForce RTX 4090",
    "v100": "Tesla V100-SXM2-16GB",
    "b200": "NVIDIA B200",
    "mi300x": "AMD Instinct MI300X",
}
"""What people call a family, or a chip whose full name nobody writes; of several models with one name that with the
lowest rates, unless a capture names another of them."""
MOST_COUNTING_CORES = max(chip.cube_cores for chip in CHIPS if chip.macs == CUBE_OF_A2)
"""Cube cores of the largest chip whose kernels count their cycles."""
MIXED_UP = {"Ascend910B": ("Ascend910_93",)}
"""Families that captures name for chips of others: those of Atlas A3 share a number with Ascend910B."""

_NEARLY = 0.01
"""Of the memory of a device some is taken before anybody can ask for its size: 16 MiB of 192 GiB."""
_MODEL = re.compile(r"\b[A-Z]{1,3}[0-9]{2,4}[A-Z]*\b")
_NOISE = re.compile(r"[\s_-]+|^(huawei|昇腾|ascend|atlas|nvidia|geforce|tesla|amd|instinct)+")


def name_chip_by_size(cores: int, memory_bytes: int) -> str:
    """The one chip with so many cores and so much memory; empty where there is none, or more than one."""
    alike = [
        chip.name
        for chip in CHIPS
        if chip.cube_cores == cores and abs(chip.memory_bytes - memory_bytes) <= _NEARLY * chip.memory_bytes
    ]
    return alike[0] if len(alike) == 1 else ""


class ChipTable(Struct, frozen=True):
    """The chips that are known: those above, and what a project says of its own."""

    chips: tuple[Chip, ...] = CHIPS
    sources: Mapping[str, str] = {}
    """By name of a chip whose numbers a project gives or corrects: where they come from, in its words."""

    def named(self, words: str) -> Chip | None:
        """The chip that is meant: `Ascend910B3`, `ascend 910b3`, `910B3`, `910_9392`, `910C`; None for no chip."""
        key = _chip_key(words)
        found = next((chip for chip in self.chips if _chip_key(chip.name) == key), None)
        return found or self._by_name(ALIASES.get(key, ""))

    def nearest(self, words: str) -> str:
        """The name that comes closest; empty where none does."""
        keys = {_chip_key(chip.name): chip.name for chip in self.chips}
        near = difflib.get_close_matches(_chip_key(words), keys, 1, 0.55)
        return keys[near[0]] if near else ""

    def told(self, words: str | None) -> ToldChip:
        """What a user says of the chip: its name in any spelling; None where nothing is said.

        Raises:
            UsageError: There is no such chip; the message says which there are.
        """
        chip = self.named(words) if words is not None else Chip("")
        if words is None or chip is not None:
            return ToldChip(chip.name if chip is not None else "", self)
        near, names = self.nearest(words), self.names
        known = Message("did_you_mean_known", name=near, names=names) if near else Message("known_are", names=names)
        raise UsageError(Message("unknown_chip", name=words), known)

    @property
    def names(self) -> str:
        """All names, for a message."""
        return ", ".join(chip.name for chip in self.chips)

    def is_exact(self, name: str) -> bool:
        """Whether a recorded name stands for one chip and no family; of a name unknown here nothing is doubted."""
        return bool(name) and all(chip.family != name for chip in self.chips)

    def known_of(self, name: str | None) -> Chip:
        """What is known of a chip by its recorded name; nothing at all where it is unknown."""
        return self._by_name(name or "") or Chip("")

    def agree(self, recorded: str, told: str) -> tuple[str, str]:
        """The chip that counts, and a note of the run: what was recorded, unless what was told is of that family, or a
        family whose chips are recorded under that name, or a GPU of the same model as one that is unknown here.

        The note is `told_chip=NAME` where the user's word counts, `untold_chip=NAME` where the capture contradicts it.
        """
        chip = self._by_name(told)
        if chip is None or told == recorded:
            return recorded, ""
        own = self._by_name(recorded)
        if (
            not recorded
            or self._is_of_family(told, recorded)
            or (own is None and _model(recorded) == _model(told) != "")
        ):
            return told, f"told_chip={told}"
        vaguer = own is not None and (
            told == own.family or (told in ALIASES.values() and _model(recorded) == _model(told) != "")
        )
        return recorded, "" if vaguer else f"untold_chip={told}"

    def may_be_same_chip(self, one: str, other: str) -> bool:
        """Whether two names may stand for one chip: a family for any of its members and for a chip unknown here, and a
        GPU that is unknown here for another of its model."""
        if one == other or self._is_of_family(one, other) or self._is_of_family(other, one):
            return True
        unknown = self._by_name(one) is None or self._by_name(other) is None
        one_is_family = not (self.is_exact(one) and self.is_exact(other))
        return unknown and (one_is_family or _model(one) == _model(other) != "")

    def _is_of_family(self, name: str, family: str) -> bool:
        """Whether one name is that of a family, under which chips of the other name are recorded."""
        families, chip = (family, *MIXED_UP.get(family, ())), self.known_of(name)
        return not self.is_exact(family) and (name in families or chip.family in families)

    def of_device(self, recorded: str, chip: str) -> Chip:
        """What is known of a device by its recorded name, or by the chip of the run where that says more."""
        return self.known_of(self.agree(recorded, chip)[0])

    def with_own(self, chips: Iterable[Chip], sources: Mapping[str, str]) -> ChipTable:
        """The table with these chips, which take the place of those with their names."""
        own = {chip.name: chip for chip in chips}
        rest = [chip for chip in self.chips if chip.name not in own]
        return ChipTable((*rest, *own.values()), {**self.sources, **sources})

    def _by_name(self, name: str) -> Chip | None:
        return next((chip for chip in self.chips if chip.name == name), None) if name else None


class ToldChip(Struct, frozen=True):
    """What a user says: which chip it was, by its name in the table, and what is known of chips."""

    name: str = ""
    table: ChipTable = ChipTable()


NOTHING_TOLD = ToldChip()


def _model(name: str) -> str:
    """The model that the name of a GPU tells, such as A100; empty where none."""
    found = _MODEL.search(name.upper())
    return found[0] if found else ""


def _chip_key(words: str) -> str:
    key = words.casefold()
    while (shorter := _NOISE.sub("", key)) != key:
        key = shorter
    return key
