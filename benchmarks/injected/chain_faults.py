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
from benchmarks.injected.faults import Fault, Run, Spoil, kernels_of, pieces, spread

_GROWTH = 0.1
"""By what part steps get longer: less than what is left until the host would be the limit."""
_MARGIN = 1.2
_PLACES = 6
_HOST = 1_000
"""The longest time between two moments of their calls on the host, in ns: what is lost is the device's time alone."""
_CHAIN = frozenset({"compute/unfused-chain"})


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators that do the work of a fused one, as PyTorch calls them where nobody asks for it: types of kernels, or
    `aten::mul=Mul`, an operator of PyTorch and its kernel."""

    fused: str
    before: tuple[str, ...]
    longest: str
    """It stands where the fused operator stood; none of the others takes more time."""
    behind: tuple[str, ...] = ()
    passes: float = 1.0
    """Passes over memory of the fused operator, over those of the longest."""
    workload: str = ""
    """What the chain is a fault of, where that is no training: whoever ran it says so."""

    @property
    def part(self) -> float:
        """What the fused operators take, of a step without them: so much that the longest is the longest."""
        members = len(self.before) + 1 + len(self.behind)
        return _MARGIN * _GROWTH / (members / self.passes - 1 - _GROWTH)


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
            found = [op for op in operators if [kernel.op_type for kernel in op.kernels] == [_kernel_of(chain.fused)]]
            found = spread(found, pieces(run, amount, _PLACES))
            for operator in found:
                _become_chain(changes, operator, chain, amount / len(found))


def _become_chain(changes: Changes, operator: Operator, chain: Chain, amount: float) -> None:
    """Makes one fused operator a chain that takes so much longer."""
    fused = operator.kernels[0].duration
    longest = round(fused / chain.passes)
    others = round((amount + fused - longest) / len(chain.before + chain.behind))
    for op_type in chain.before:
        _become(_repeat(changes, operator, operator), op_type, others)
    last = operator
    for op_type in chain.behind:
        last = _repeat(changes, operator, last, behind=True)
        _become(last, op_type, others)
    _become(operator, chain.longest, longest)


def _repeat(changes: Changes, operator: Operator, place: Operator, *, behind: bool = False) -> Operator:
    """Calls an operator once more, quickly."""
    made = changes.repeat(operator, place, behind)
    for call in (*made.calls, *made.sending):
        for moment in (call.begin, call.end):
            moment.work = min(moment.work, _HOST)
    return made


def _kernel_of(spelled: str) -> str:
    """The type of the kernel of `aten::mul=Mul`."""
    return spelled.rpartition("=")[2]


def _become(operator: Operator, spelled: str, time: int) -> None:
    called, _, op_type = spelled.rpartition("=")
    for call in operator.calls if called else ():
        if "::" in call.name:
            call.event = call.event | {"name": called}
    for kernel in operator.kernels:
        set_task(kernel, time, "AI_VECTOR_CORE", Type=op_type, Name=f"aclnn{op_type}_{op_type}AiCore_{op_type}")


def add_biases(run: Run, amount: float) -> None:
    """Every matrix multiplication leaves its bias to an operator of its own."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like, places = smallest(operators), _plain_products(operators)
            for place in places:
                shape = _shape_of_product(place)
                _add_behind(changes, like, place, round(amount / len(places)), f"{shape};{shape.rpartition(',')[2]}")


def _shape_of_product(operator: Operator) -> str:
    return (operator.kernels[-1].row or {}).get("Output Shapes", "").strip('"')


def _add_behind(changes: Changes, like: Operator, place: Operator, time: int, shapes: str) -> None:
    """Adds two float32 tensors of these shapes behind an operator."""
    made = _repeat(changes, like, place, behind=True)
    _become(made, "Add", time)
    told = {
        "Input_Shapes": f'"{shapes}"',
        "Input_Data_Types": "FLOAT;FLOAT",
        "Output_Shapes": f'"{shapes.partition(";")[0]}"',
    }
    for kernel in made.kernels:
        set_task(kernel, kernel.end.work, **told)


def sum_up_gradients(run: Run, amount: float) -> None:
    """Every gradient of a weight is added to the sum of the micro-batches by an operator of its own, which takes twice
    as long as what the product did of it."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like, places = smallest(operators), [op for op in _plain_products(operators) if _of_weight(op)]
            for place in places:
                shape, own = _shape_of_product(place), round(amount / len(places))
                _add_behind(changes, like, place, 2 * own, f"{shape};{shape}")
                last = place.kernels[-1]
                set_task(last, max(last.end.work - own, 0))


def _sum_up_inside(run: Run) -> None:
    """Lets products be in half precision, and those that make gradients of weights add them up."""
    _multiply_in_half(run)
    for changes in run.ranks:
        for operators in kernels_of(changes):
            for place in filter(_of_weight, _plain_products(operators)):
                set_task(place.kernels[-1], place.kernels[-1].end.work + _SUMMING)


def _of_weight(operator: Operator) -> bool:
    """Whether both factors have as many rows, and the product has none of these."""
    one, other = (
        side.split(",")[0] for side in (operator.kernels[-1].row or {})["Input Shapes"].strip('"').split(";")[:2]
    )
    return one == other and one not in _shape_of_product(operator).split(",")


def _multiply_in_half(run: Run) -> None:
    """Lets products be in half precision."""
    for changes in run.ranks:
        for kernel in changes.rank.kernels:
            if kernel.row is not None and kernel.op_type.startswith("MatMul"):
                kernel.row["Input Data Types"] = kernel.row["Input Data Types"].replace("FLOAT", "FLOAT16")


def _plain_products(operators: Sequence[Operator]) -> list[Operator]:
    """Those that multiply two matrices last."""
    return [op for op in products(operators) if op.kernels[-1].op_type.startswith("MatMul")]


def add_norms(run: Run, amount: float) -> None:
    """Every convolution is normalised by an operator of its own."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like = smallest(operators)
            places = [op for op in operators if any(kernel.op_type == "Conv2D" for kernel in op.kernels)]
            for place in places:
                _become(_repeat(changes, like, place, behind=True), "BNInfer", round(amount / len(places)))


@dataclass(frozen=True, slots=True)
class Swarm:
    """Operators called for each of many tensors, which one call does for all of them: no work is spared, but the pause
    before each kernel."""

    fused: str
    each: tuple[str, ...]
    """What is called for one tensor, or for as many as a chain has."""
    beside: str = ""
    """What runs in front of them, once in each place, with the fault and without."""

    @property
    def chains(self) -> int:
        """How many chains stand in one place."""
        return round(_SWARM / _PLACES / len(self.each))


_SWARM = 800
_SHORT = 2_000
"""How long each of so many kernels takes, in ns."""
_SUMMING = 2_000_000
"""How long the gradient of one weight takes to be added where it is multiplied, in ns."""
_LESS_GROWTH = 0.06
"""By what part steps get longer with them: pauses above 5 µs were no usual ones."""


def _put_in_fused(swarm: Swarm, run: Run) -> None:
    """Puts the one call for all tensors into each backward pass, and lets products be in half precision: what the base
    loses by them is as much as what these faults lose."""
    _multiply_in_half(run)
    for changes in run.ranks:
        for operators in kernels_of(changes):
            behind = [op for op in operators if op.top.lane is not changes.rank.main]
            like, places = smallest(operators), spread(behind, _PLACES)
            for place in places:
                last = place
                if swarm.beside:
                    last = _repeat(changes, like, place, behind=True)
                    _become(last, swarm.beside, _SHORT)
                _become(_repeat(changes, like, last, behind=True), swarm.fused, swarm.chains * len(swarm.each) * _SHORT)


def _call_one_by_one(swarm: Swarm, run: Run, amount: float) -> None:
    """Calls operators for each tensor in place of the one for all."""
    types = swarm.each * swarm.chains
    for changes in run.ranks:
        for operators in kernels_of(changes):
            found = [op for op in operators if [kernel.op_type for kernel in op.kernels] == [swarm.fused]]
            for operator in found:
                pause, last = round(amount / len(found) / (len(types) - 1)), operator
                for op_type in types[1:]:
                    last = _repeat(changes, operator, last, behind=True)
                    _become(last, op_type, _SHORT)
                    last.kernels[0].begin.work = pause
                _become(operator, types[0], _SHORT)


def _fault(pattern: str, chain: Chain, named_by: frozenset[str] = _CHAIN) -> Fault:
    common: Callable[[Run], None] = partial(_put_in, chain)
    return Fault(
        partial(_take_apart, chain),
        named_by,
        growth=_GROWTH,
        common=common,
        bases=("balanced",),
        pattern=pattern,
        workload=chain.workload,
    )


def _swarm(pattern: str, fused: str, each: str, beside: str = "") -> Fault:
    swarm = Swarm(fused, tuple(each.split()), beside)
    spoil, common = partial(_call_one_by_one, swarm), partial(_put_in_fused, swarm)
    return Fault(spoil, _CHAIN, growth=_LESS_GROWTH, common=common, bases=("balanced",), pattern=pattern)


_ADDED = frozenset({"compute/slow-vector-operator"})
"""Additions as large as the products of a small network are done in no time: those that last as long as a fault has to
take many times what passing over their data takes, which is true to say."""


def _of_products(
    pattern: str,
    spoil: Spoil,
    workload: str = "",
    common: Callable[[Run], None] | None = None,
    shown_by: frozenset[str] = frozenset(),
) -> Fault:
    return Fault(
        spoil,
        _CHAIN,
        shown_by,
        growth=_GROWTH,
        common=common,
        bases=("balanced",),
        pattern=pattern,
        workload=workload,
    )


FAULTS: Mapping[str, Fault] = {
    "unfused-gelu": _fault("gelu", Chain("Gelu", ("Pow", "Muls", "Add", "Muls"), "Tanh", ("Adds", "Mul"))),
    "unfused-geglu": _fault("geglu", Chain("GeGluV2", ("Gelu",), "Mul")),
    "unfused-swiglu": _fault("swiglu", Chain("SwiGlu", ("Swish",), "Mul"), frozenset({"compute/unfused-swiglu"})),
    "unfused-masked-softmax": _fault(
        "scaled-masked-softmax", Chain("ScaledMaskedSoftmax", ("Muls", "MaskedFill"), "SoftmaxV2")
    ),
    "unfused-permute": _fault("moe-permute", Chain("MoeTokenPermute", ("Sort", "FloorDiv"), "GatherV2")),
    "unfused-unpermute": _fault("moe-permute", Chain("MoeTokenUnpermute", ("IndexPutV2",), "Mul", ("ReduceSum",))),
    "logarithm-of-softmax": _fault("cross-entropy", Chain("LogSoftmaxV2", ("SoftmaxV2",), "Log")),
    "unfused-add-norm": _fault(
        "add-rms-norm", Chain("AddRmsNorm", ("Add",), "RmsNorm", passes=4 / 3, workload="inference")
    ),
    "unfused-add-layer-norm": _fault("add-layer-norm", Chain("AddLayerNorm", ("Add",), "LayerNormV3", passes=4 / 3)),
    "unfused-layer-norm": _fault(
        "layer-norm",
        Chain("LayerNormV3", ("ReduceMean", "Sub", "Pows", "ReduceMean", "Adds", "Rsqrt"), "Mul", ("Mul", "Add")),
    ),
    "unfused-group-norm": _fault("group-norm-silu", Chain("GroupNormSwish", (), "GroupNorm", ("Swish",))),
    "unfused-norm-quant": _fault(
        "norm-quant", Chain("RmsNormQuant", (), "RmsNorm", ("AscendQuantV2",), workload="inference")
    ),
    "unfused-add-norm-quant": _fault(
        "add-norm-dynamic-quant",
        Chain("AddRmsNormDynamicQuant", (), "AddRmsNorm", ("DynamicQuant",), workload="inference"),
    ),
    "unfused-swiglu-quant": _fault(
        "swiglu-quant", Chain("DequantSwigluQuant", (), "SwiGlu", ("DynamicQuant",), workload="inference")
    ),
    "unfused-plain-norm-quant": _fault(
        "rms-norm-dynamic-quant",
        Chain("RmsNormDynamicQuant", (), "RmsNorm", ("DynamicQuant",), workload="inference"),
    ),
    "unfused-softmax": _fault("softmax", Chain("SoftmaxV2", ("ReduceMax", "Sub", "Exp", "ReduceSum"), "RealDiv")),
    "unfused-mish": _fault("mish", Chain("Mish", ("SoftplusV2", "Tanh"), "Mul", passes=2 / 3)),
    "unfused-loss": _fault(
        "log-softmax-loss", Chain("CrossEntropyLossGrad", ("NLLLossGrad",), "LogSoftmaxGrad", passes=2 / 3)
    ),
    "unfused-dropout": _fault(
        "dropout",
        Chain(
            "aten::native_dropout=DropOutDoMask",
            ("aten::uniform_=DSARandomUniform", "aten::gt=Greater"),
            "aten::mul=Mul",
            ("aten::div=RealDiv",),
        ),
    ),
    "unfused-quick-gelu": _fault("quick-gelu", Chain("FastGelu", ("Muls", "Sigmoid"), "Mul")),
    "listed-adam": _fault(
        "foreach-adam",
        Chain(
            "ApplyAdamWV2",
            (
                "ForeachMulScalar",
                "ForeachLerpScalar",
                "ForeachMulScalar",
                "ForeachAddcmulScalar",
                "ForeachSqrt",
                "ForeachDivScalarList",
                "ForeachAddScalar",
            ),
            "ForeachAddcdivScalarList",
            passes=1.75,
        ),
    ),
    "unfused-batch-norm": _of_products("conv-batch-norm", add_norms, "inference"),
    "clipping-one-by-one": _swarm("clip-grad-norm", "ForeachNorm", "LpNormV2 " * 8),
    "products-one-by-one": _swarm("grouped-matmul", "GroupedMatmul", "MatMulV3 " * 8, "MoeGatingTopKSoftmax"),
    "sgd-one-by-one": _swarm("sgd", "ApplyMomentum", "Muls Axpy Axpy " * 3),
    "rmsprop-one-by-one": _swarm("rmsprop", "ApplyRMSProp", "Muls Addcmul Sqrt Adds Addcdiv"),
    "adadelta-one-by-one": _swarm(
        "adadelta", "ApplyAdadelta", "Muls Addcmul Adds Sqrt Adds Sqrt RealDiv Mul Muls Addcmul Axpy"
    ),
    "lamb-one-by-one": _swarm("lamb", "ApplyLamb", "Muls Add Muls Addcmul Sqrt Adds RealDiv LpNormV2"),
    "unfused-bias": _of_products("matmul-bias", add_biases, shown_by=_ADDED),
    "gradients-summed-apart": _of_products(
        "gradient-accumulation", sum_up_gradients, common=_sum_up_inside, shown_by=_ADDED
    ),
}
