# SPDX-License-Identifier: Apache-2.0
"""Communication groups and the parallel layout: who talks to whom, and who stands in which pipeline stage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from advisor.facts.observed import Group
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Parallel
from advisor.sources.ascend.reading import Folder
from advisor.sources.family import GroupMembers
from advisor.sources.files.jsonfile import as_integer, as_integers, as_mapping, as_text, value_at
from advisor.sources.reading import Reading

KINDS: Mapping[str, str] = {
    "default_group": "world",
    "exp": "ep",
    "dp_cp": "dp",
    "moetp": "tp",
    "cp_ulysses": "cp",
    "embd": "embedding",
    "hccl_world_group": "world",
}
"""Names of groups as frameworks write them, where ours differ; other names stay as they are."""

_SIZES = {
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "dp": "data_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
}


MOST_RANKS = 1 << 20
"""A world larger than this is a damaged number."""


@lru_cache(maxsize=1 << 16)  # every rank of a job names the same ones
def communicator_hash(name: str) -> str:
    """The decimal hash that stands for a communicator in file names and collectives; a hash stays as it is.

    Two polynomial hashes of the name with 29 and 131, 32 bits each, joined to 64 bits.
    """
    if name.isdecimal() or not name:
        return name
    low = high = 0
    for letter in name:
        high = (high * 29 + ord(letter)) & 0xFFFFFFFF
        low = (low * 131 + ord(letter)) & 0xFFFFFFFF
    return str(high << 32 | low)


_OF_NO_KIND = re.compile(r"\d+(?:-\d+)+")
"""How MindSpore's parallel modes name a group: by the number of its ranks and a hash, or by the ranks."""


def kind_of(name: str) -> str:
    """What a group is for, by the name its framework gave it; empty where that says nothing of it."""
    plain = name.strip().lower()
    return "" if _OF_NO_KIND.fullmatch(plain) else KINDS.get(plain, plain)


def groups_in_metadata(info: object) -> dict[str, GroupMembers]:
    """The groups of a `parallel_group_info`, by communicator hash."""
    found = {}
    for name, entry in as_mapping(info).items():
        ranks = as_integers(value_at(entry, "global_ranks"))
        if ranks:
            found[communicator_hash(name)] = GroupMembers(kind_of(as_text(value_at(entry, "group_name"))), ranks)
    return found


def from_cluster(content: object) -> dict[str, GroupMembers]:
    """The groups of a cluster's communication_group.json, by communicator hash; files of 2023 name none."""
    entries = value_at(content, "comm_group_parallel_info")
    found = {}
    for entry in entries if isinstance(entries, list) else []:
        name = as_text(value_at(entry, "group_name")) or as_text(value_at(entry, "group_id"))
        ranks = tuple(sorted(as_integers(value_at(entry, "rank_set"))))
        if name and ranks:
            found[communicator_hash(name)] = GroupMembers(kind_of(as_text(value_at(entry, "pg_name"))), ranks)
    return found


def ranks_of_cluster(content: object) -> frozenset[int]:
    """Every rank that a cluster's communication_group.json names; files of 2023 list the members of groups alone."""
    entries = value_at(content, "comm_group_parallel_info")
    named = [value_at(entry, "rank_set") for entry in entries] if isinstance(entries, list) else []
    for kind in ("collective", "p2p"):
        listed = value_at(content, kind)
        named += listed if isinstance(listed, list) else []
    return frozenset(rank for members in named for rank in as_integers(members) if 0 <= rank < MOST_RANKS)


class Sizes(Struct, frozen=True):
    """What a framework wrote about its parallel dimensions."""

    sizes: Mapping[str, int]
    world: int

    @classmethod
    def recorded(cls, distributed: object) -> Sizes:
        """From `distributed_args`; empty when there are none."""
        found = {short: as_integer(value_at(distributed, name)) or 0 for short, name in _SIZES.items()}
        world = as_integer(value_at(distributed, "world_size")) or 0
        return cls({k: v for k, v in found.items() if 0 < v <= MOST_RANKS}, world if 0 < world <= MOST_RANKS else 0)


def parallel_layout(
    sizes: Sizes,
    groups: Mapping[str, GroupMembers],
    stages: tuple[tuple[int, ...], ...] = (),
    stages_from: str = "cluster",
) -> Parallel:
    """The parallel layout, from the best source there is: `distributed_args`, then the sizes of groups, then `stages`.

    `stages` are those a cluster summary names, or those that follow from who sends to whom; `stages_from` says which.
    """
    dimensions, source = dict(sizes.sizes), "distributed_args"
    if not dimensions:
        dimensions, source = _by_groups(groups), "parallel_group_info"
    if not dimensions and len(stages) > 1:
        dimensions, source = {"pp": len(stages)}, stages_from
    if not dimensions:
        return Parallel()
    depth = dimensions.get("pp", 0)
    found = _stages_by_groups(groups, depth) or stages or _stages_by_order(sizes.world, depth)
    return Parallel(**dimensions, source=source, stages=found if len(found) > 1 else ())


def _by_groups(groups: Mapping[str, GroupMembers]) -> dict[str, int]:
    """The size of the largest group of each dimension."""
    found: dict[str, int] = {}
    for group in groups.values():
        if group.kind in _SIZES:
            found[group.kind] = max(found.get(group.kind, 0), len(group.ranks))
    return found


def _stages_by_groups(groups: Mapping[str, GroupMembers], depth: int) -> tuple[tuple[int, ...], ...]:
    """Ranks at the same place of their pipeline group stand in the same stage."""
    chains = {group.ranks for group in groups.values() if group.kind == "pp" and len(group.ranks) == depth > 1}
    stages = tuple(tuple(sorted({chain[place] for chain in chains})) for place in range(depth)) if chains else ()
    ranks = [rank for stage in stages for rank in stage]
    return stages if len(ranks) == len(set(ranks)) else ()


def _stages_by_order(world: int, depth: int) -> tuple[tuple[int, ...], ...]:
    """Megatron numbers ranks stage by stage: the pipeline is the slowest dimension."""
    if not 1 < depth <= world <= MOST_RANKS or world % depth:
        return ()
    width = world // depth
    return tuple(tuple(range(stage * width, (stage + 1) * width)) for stage in range(depth))


def stages_by_pairs(pairs: Iterable[tuple[int, ...]], world: int) -> tuple[tuple[int, ...], ...]:
    """Stages when only the groups with point-to-point traffic are known: ranks that send to each other stand in
    different stages, and stages are blocks of consecutive ranks. Empty unless both hold for every group.
    """
    chains = [tuple(sorted(set(pair))) for pair in _merge_sets(pairs)]
    depth = max((len(chain) for chain in chains), default=0)
    stages = _stages_by_order(world, depth)
    whole = all(len(chain) == depth for chain in chains)
    placed = all(rank in stage for chain in chains for rank, stage in zip(chain, stages, strict=False))
    return stages if whole and placed else ()


def _merge_sets(pairs: Iterable[tuple[int, ...]]) -> list[set[int]]:
    """Sets that share a member become one."""
    sets: list[set[int]] = []
    for pair in pairs:
        touching = [known for known in sets if known & set(pair)]
        sets = [known for known in sets if not known & set(pair)]
        sets.append(set(pair).union(*touching))
    return sets


def group_table(groups: Mapping[str, GroupMembers]) -> Table[Group]:
    """Every member of every group, groups in order of their hash."""
    rows = [
        (name, group.kind or None, rank, place)
        for name, group in sorted(groups.items())
        for place, rank in enumerate(group.ranks)
    ]
    names, kinds, ranks, places = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Table.build(Group, group=names, group_kind=kinds, rank=ranks, position=places)


def _groups_of_run(folder: Folder) -> Table[Group]:
    """Groups are put together from all ranks when the input is opened; one rank carries them for all."""
    if not folder.groups:
        raise FactMissing([Group.table])
    return Table.empty(Group) if folder.groups_of_run is None else group_table(folder.groups_of_run)


GROUPS = Reading(Group, {"text": _groups_of_run, "database": _groups_of_run})
