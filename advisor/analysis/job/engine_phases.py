# SPDX-License-Identifier: Apache-2.0
"""What a step of a serving engine does, by the operators and the sizes in it: reads prompts, or generates tokens.

While an engine generates, each request has one row in every product of the model. While it reads prompts each token
has one, and of each request only the last goes through the product with the vocabulary, which ends the model. So the
rows of both tell the phase, whatever the operators are called; operators that attend to prompts or to kept tokens alone
tell it where sizes were not recorded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.job.job_signs import OPERATORS
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts, values_at

PHASES = ("prefill", "decode", "mixed", "unknown")
PREFILL, DECODE, MIXED, UNKNOWN = range(4)
_STORES = re.compile(
    r"ReshapeAndCache|ScatterPaKvCache|KvRmsNormRopeCache"
    r"|.*(reshape_and_cache|store_kv_?cache|store_cache|append_paged_kv_cache|concat_and_cache_mla)"
)
"""Kernels that keep keys and values, once in a layer; their first tensor has a row for each token."""
_PRODUCT = re.compile(r"(Weight)?(Quant)?Mat_?[Mm]ul(V\d)?$|(\w+::)(addmm|mm|linear|_scaled_mm)$")
"""Products with a weight; of batches of matrices rows are no tokens."""
_VERIFIES = re.compile(r"rejection_(greedy|random)_sample|sample_recovered_tokens|verify_tree_greedy")
"""Kernels that compare tokens which were drafted ahead with those that the model chooses."""
_PADDED = 2
"""Engines fill a batch up to the next size that was captured as a graph: by default at most to its double."""
_SIDES = re.compile(r"\d{1,15}(,\d{1,15})*", re.ASCII)


class PassWork(Struct, frozen=True):
    """What kernels tell of the step they belong to, an entry per kernel."""

    stores: Array
    """Whether it keeps keys and values."""
    attends: Array
    """Whether it attends to what is kept, or to prompts."""
    told: Array
    """The phase whose attention it is; UNKNOWN of all others."""
    rows: Array
    """Tokens that it keeps, or rows of a product; NaN of others, and where shapes were not recorded."""
    weight: Array
    """Which weight a product has, as a number; -1 of others, and where shapes were not recorded."""
    verifies: Array
    """Whether it verifies tokens that were drafted ahead."""

    def take(self, rows: Array) -> PassWork:
        return PassWork(*(getattr(self, name)[rows] for name in self.__struct_fields__))


def work_of_passes(kernels: Table[Kernel]) -> PassWork:
    """What each kernel tells of the step it belongs to."""

    stores = keep_tokens(kernels)
    decodes, reads = _tell(kernels, "decode"), _tell(kernels, "prefill")
    told = np.where(decodes & ~reads, DECODE, np.where(reads & ~decodes, PREFILL, UNKNOWN))
    rows, weight = _sides_of_products(kernels, stores)
    verifies = are_named(kernels, lambda name: _VERIFIES.match(name) is not None)
    return PassWork(stores, (decodes | reads | _tell(kernels, "cache")) & ~stores, told, rows, weight, verifies)


def reach_cache(kernels: Table[Kernel]) -> Array:
    """Per kernel: whether it keeps keys and values, or attends to what is kept or to prompts (`PassWork`)."""
    return keep_tokens(kernels) | _tell(kernels, "decode", "prefill", "cache")


def _tell(kernels: Table[Kernel], *things: str) -> Array:
    """Per kernel: whether its operator tells any of these things of a job."""
    return are_named(kernels, lambda name: not set(things).isdisjoint(OPERATORS.told_by(name)))


def keep_tokens(kernels: Table[Kernel]) -> Array:
    """Per kernel: whether it keeps keys and values for later tokens, once in a layer."""
    return are_named(kernels, lambda name: _STORES.match(name) is not None)


def are_named(kernels: Table[Kernel], wanted: Callable[[str], bool]) -> Array:
    """Per kernel: whether its type or its function is wanted; at Level0 the type is the end of its name."""
    found = np.zeros(len(kernels), bool)
    for column in ("op_type", "function"):
        names = kernels.texts(column)
        found |= names.hits(map(wanted, names.names))
    return found


def _sides_of_products(kernels: Table[Kernel], stores: Array) -> tuple[Array, Array]:
    """Per kernel: the rows it is given, and its weight."""
    types, shapes = kernels.texts("op_type"), kernels.texts("input_shapes")
    multiplies = types.passing(_PRODUCT.match)
    counted = np.flatnonzero((multiplies | stores) & (shapes.codes >= 0))
    groups = group_by(types.take(counted), shapes.take(counted), stores[counted])
    first = counted[groups.first]
    told = zip(types.take(first).values(), shapes.take(first).values(), stores[first].tolist(), strict=True)
    sides = [_kept_tokens(given or "") if keeps else _factors(name or "", given or "") for name, given, keeps in told]
    rows, weight = np.full(len(kernels), np.nan), np.full(len(kernels), -1)
    rows[counted] = np.array([count for count, _ in sides], float)[groups.of]
    weight[counted] = Texts.of(name for _, name in sides).codes[groups.of]
    return rows, weight


def _kept_tokens(shapes: str) -> tuple[float, str | None]:
    sides = _sides_of(shapes.split(";", maxsplit=1)[0])
    return sides[0] if sides else np.nan, None


def _factors(op_type: str, shapes: str) -> tuple[float, str | None]:
    """The rows of the first factor and the shape of the second; what `addmm` adds stands before them."""
    tensors = [*shapes.split(";")[1 if op_type.endswith("::addmm") else 0 :], ""]
    sides, weight = _sides_of(tensors[0]), tensors[1]
    return (math.prod(sides[:-1]), weight) if len(sides) > 1 and _sides_of(weight) else (np.nan, None)


def _sides_of(tensor: str) -> list[float]:
    """The sides of a tensor; none where some is not known."""
    return [float(side) for side in tensor.split(",")] if _SIDES.fullmatch(tensor) else []


class StepSizes(Struct, frozen=True):
    """What steps of an engine do, an entry per step."""

    phase: Array
    """Which of PHASES."""
    requests: Array
    """For how many requests; NaN where nothing tells."""
    tokens: Array
    """How many tokens, those that fill up a batch included; NaN where nothing tells."""


def sizes_of_steps(work: PassWork, step: Array, steps: int) -> StepSizes:
    """What each step does, told by its kernels in the order in which they began; `step` is that of each, or -1."""
    inside = step >= 0
    head = _last_products(work, step, steps)
    requests = values_at(work.rows, head, np.nan)
    layers = inside & ~np.isnan(work.rows) & (work.weight >= 0)
    layers[head[head >= 0]] = False
    tokens = _medians(work.rows, step, inside & work.stores, steps)
    tokens = np.where(np.isnan(tokens), _medians(work.rows, step, layers, steps), tokens)
    decodes, reads = (
        np.bincount(step[inside & (work.told == phase)], minlength=steps) > 0 for phase in (DECODE, PREFILL)
    )
    by_name = np.select([decodes & reads, decodes, reads], [MIXED, DECODE, PREFILL], UNKNOWN)
    by_size = np.where(tokens > _PADDED * requests, np.where(decodes & reads, MIXED, PREFILL), DECODE)
    known = ~np.isnan(tokens) & ~np.isnan(requests)
    phase = np.where(known, by_size, by_name)
    scored = _scored_tokens(work, step, steps)
    verified = ~np.isnan(scored) & ~np.isnan(tokens)
    requests = np.where(np.isnan(scored), requests, np.nan)  # several of its tokens may be of one request
    return StepSizes(np.where(verified, np.where(tokens > _PADDED * scored, MIXED, DECODE), phase), requests, tokens)


def _scored_tokens(work: PassWork, step: Array, steps: int) -> Array:
    """Per step that verifies drafts: the rows of the last product before it does; NaN of others."""
    products = np.flatnonzero((step >= 0) & (work.weight >= 0))
    verifies = np.flatnonzero((step >= 0) & work.verifies)
    scored = np.full(steps, np.nan)
    if not len(products):
        return scored
    before = products[np.maximum(np.searchsorted(products, verifies) - 1, 0)]
    own = (before < verifies) & (step[before] == step[verifies])
    verifies, before = verifies[own][::-1], before[own][::-1]
    scored[step[verifies]] = work.rows[before]  # of several rows of a step that of the first is kept
    return scored


def _last_products(work: PassWork, step: Array, steps: int) -> Array:
    """Per step: its last product, which gives the scores of the next tokens; -1 where its weight is used more often."""
    rows = np.flatnonzero((step >= 0) & (work.weight >= 0))
    uses = group_by(step[rows], work.weight[rows])
    alone = uses.sizes[uses.of] == 1
    last = np.full(steps, -1)
    last[step[rows]] = np.where(alone, rows, -1)  # of several rows of a step the last is kept
    return last


def _medians(values: Array, step: Array, chosen: Array, steps: int) -> Array:
    rows = np.flatnonzero(chosen)
    out = np.full(steps, np.nan)
    if len(rows):
        groups = group_by(step[rows])
        out[step[rows][groups.first]] = groups.medians(values[rows])
    return out
