# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators in place of a fused one.

The fused operator is put into the capture beforehand, so that what is lost is what the chain takes beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.injected.changes import Changes, Operator
from benchmarks.injected.compute_faults import products, set_task, smallest
from benchmarks.injected.faults import Fault, Run, kernels_of, pieces, spread

_GROWTH = 0.1
"""By what part steps get longer: less than what is left until the host would be the limit."""
_MARGIN = 1.2
_PLACES = 6
_HOST = 1_000
"""The longest time between two moments of their calls on the host, in ns: what is lost is the device's time alone."""
_CHAIN = frozenset({"compute/unfused-chain"})


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators that do the work of a fused one, as PyTorch calls them where nobody asks for it."""

    fused: str
    before: tuple[str, ...]
    longest: str
    """It stands where the fused operator stood; none of the others takes more time."""
    behind: tuple[str, ...] = ()

    @property
    def part(self) -> float:
        """What the fused operators take, of a step without them: so much that the longest is the longest."""
        members = len(self.before) + 1 + len(self.behind)
        return _MARGIN * _GROWTH / (members - 1 - _GROWTH)


def _put_in(chain: Chain, run: Run) -> None:
    """Puts the fused operator behind operators of each backward pass, which the host sends far ahead."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            behind = [op for op in operators if op.top.lane is not changes.rank.main]
            like, places = smallest(operators), spread(behind, _PLACES)
            for place in places:
                made = _repeat(changes, like, place, behind=True)
                _become(made, chain.fused, round(chain.part * run.step_ns / len(places)))


def _take_apart(chain: Chain, run: Run, amount: float) -> None:
    """Makes a chain of each fused operator."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            found = [op for op in operators if [kernel.op_type for kernel in op.kernels] == [chain.fused]]
            found = spread(found, pieces(run, amount, _PLACES))
            for operator in found:
                _become_chain(changes, operator, chain, amount / len(found))


def _become_chain(changes: Changes, operator: Operator, chain: Chain, amount: float) -> None:
    """Makes one fused operator a chain that takes so much longer."""
    fused = operator.kernels[0].duration
    others = round(amount / len(chain.before + chain.behind))
    for op_type in chain.before:
        _become(_repeat(changes, operator, operator), op_type, others)
    last = operator
    for op_type in chain.behind:
        last = _repeat(changes, operator, last, behind=True)
        _become(last, op_type, others)
    _become(operator, chain.longest, fused)


def _repeat(changes: Changes, operator: Operator, place: Operator, *, behind: bool = False) -> Operator:
    """Calls an operator once more, quickly."""
    made = changes.repeat(operator, place, behind)
    for call in (*made.calls, *made.sending):
        for moment in (call.begin, call.end):
            moment.work = min(moment.work, _HOST)
    return made


def _become(operator: Operator, op_type: str, time: int) -> None:
    for kernel in operator.kernels:
        set_task(kernel, time, "AI_VECTOR_CORE", Type=op_type, Name=f"aclnn{op_type}_{op_type}AiCore_{op_type}")


def add_biases(run: Run, amount: float) -> None:
    """Every matrix multiplication leaves its bias to an operator of its own."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like, places = smallest(operators), _plain_products(operators)
            for place in places:
                shape = (place.kernels[-1].row or {}).get("Output Shapes", "").strip('"')
                made = _repeat(changes, like, place, behind=True)
                _become(made, "Add", round(amount / len(places)))
                for kernel in made.kernels:
                    shapes = {"Input_Shapes": f'"{shape};{shape.rpartition(",")[2]}"', "Output_Shapes": f'"{shape}"'}
                    set_task(kernel, kernel.end.work, **shapes)


def _plain_products(operators: Sequence[Operator]) -> list[Operator]:
    """Those that multiply two matrices last."""
    return [op for op in products(operators) if op.kernels[-1].op_type.startswith("MatMul")]


def _fault(chain: Chain, named_by: frozenset[str] = _CHAIN) -> Fault:
    common: Callable[[Run], None] = partial(_put_in, chain)
    return Fault(partial(_take_apart, chain), named_by, growth=_GROWTH, common=common, bases=("balanced",))


FAULTS: Mapping[str, Fault] = {
    "unfused-gelu": _fault(Chain("Gelu", ("Pow", "Muls", "Add", "Muls"), "Tanh", ("Adds", "Mul"))),
    "unfused-geglu": _fault(Chain("GeGluV2", ("Gelu",), "Mul")),
    "unfused-swiglu": _fault(Chain("SwiGlu", ("Swish",), "Mul"), frozenset({"compute/unfused-swiglu"})),
    "unfused-masked-softmax": _fault(Chain("ScaledMaskedSoftmax", ("Muls", "MaskedFill"), "SoftmaxV2")),
    "unfused-permute": _fault(Chain("MoeTokenPermute", ("Sort", "FloorDiv"), "GatherV2")),
    "unfused-unpermute": _fault(Chain("MoeTokenUnpermute", ("IndexPutV2",), "Mul", ("ReduceSum",))),
    "logarithm-of-softmax": _fault(Chain("LogSoftmaxV2", ("SoftmaxV2",), "Log")),
    "unfused-bias": Fault(add_biases, _CHAIN, growth=_GROWTH, bases=("balanced",)),
}
