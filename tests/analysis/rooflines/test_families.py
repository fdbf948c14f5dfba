# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.rooflines.families import FAMILIES, communicate_inside, families_of, family_of, go_by_index
from advisor.facts.table import Texts


@pytest.mark.parametrize(
    ("family", "types"),
    [
        ("matmul", "MatMulV2 BatchMatMulV3 GroupedMatmul QuantBatchMatmulV3 MatmulAllReduce"),
        ("matmul", "aten::mm aten::_scaled_mm aten::_int_mm aten::_grouped_mm aten::_scaled_grouped_mm"),
        ("convolution", "Conv2D Conv2DV2 Conv3D Conv2DBackpropFilter Conv3DBackpropInputV2 DepthwiseConv2D"),
        ("attention", "FlashAttentionScore FlashAttentionScoreGrad FusedInferAttentionScore PagedAttention"),
        (
            "elementwise",
            "Add AddN Adds Addcmul Mul Muls RealDiv Silu SwiGlu ReluGrad ApplyRotaryPosEmb DropOutDoMask LogicalNot",
        ),
        ("reduction", "ReduceSum LayerNormV3 AddRmsNorm BNTrainingUpdate SoftmaxV2 LogSoftmaxGrad MaxPoolGrad NLLLoss"),
        (
            "movement",
            "Transpose TransData Cast TensorMove ConcatD StridedSliceD GatherV2 ScatterUpdate IndexPutV2 MemSet",
        ),
        ("optimizer", "ForeachAddList ForeachMulScalar ApplyAdamW ApplyAdamWV2 ResourceApplyMomentum FusedEmaAdam"),
        ("custom", "matmul_kernel triton_poi_fused_add_0 _rms_norm_fwd"),
        (
            "other",
            "DSARandomNormal StatelessRandomNormalV2 ApplyTopKTopPWithSorted ConvertSomething MoeDistributeDispatch "
            "AttentionToFFN FFNToAttention 0",
        ),
    ],
)
def test_an_operator_is_of_the_family_of_its_work_in_all_its_versions(family, types):
    found = {name: family_of(name) for name in types.split()}
    assert found == dict.fromkeys(found, family)


def test_kernels_that_exchange_data_inside_are_told_by_their_type():
    inside = "MatmulAllReduce AllGatherMatmulV2 MatmulReduceScatter GroupedMatMulAlltoAllv AlltoAllAllGatherBatchMatMul"
    tokens = "MoeDistributeDispatch MoeDistributeCombineV2 DistributeBarrier CamMoeDispatchNormal CamMoeCombineNormal"
    shared = "ShmemMoeCombineNormal NotifyDispatch ShmemNotifyDispatch CamMoeDistributeDispatchSend"
    experts = "DispatchFFNCombine DispatchFFNCombineM3 DispatchGmmCombineDecode FusedDeepMoe"
    apart = "LinearParallelOperation AttentionToFFN FFNToAttentionV2"
    on_vector_cores = "aiv_all_reduce_910b_bfloat16_t aiv_all_to_all_bfloat16_t"
    others = "MatMulV3 GroupedMatmul MoeTokenPermute ReduceSum GatherV2 ScatterUpdate DispatchLayout FFN FusedAttention"
    waiting = " ".join((inside, tokens, shared, experts, apart, on_vector_cores)).split()
    found = communicate_inside(Texts.of([*waiting, *others.split(), None]))
    assert found.tolist() == [True] * len(waiting) + [False] * 10


def test_operators_that_go_by_indices_are_told_by_their_type():
    by_index = (
        "GatherV2 ScatterNdUpdate IndexPutV2 EmbeddingDenseGrad MaxPoolWithArgmaxV1 Sort TopKV2 Cumsum MaskedSelect "
        "at::native::vectorized_gather_kernel at::native::indexSelectLargeIndex"
    )
    others = "ReduceSum LayerNormV3 Cast Transpose Accumulate LightningIndexer Document SoftmaxV2"
    found = go_by_index(Texts.of([*by_index.split(), *others.split(), None]))
    assert found.tolist() == [True] * 11 + [False] * 9


def test_what_runs_on_the_ai_cpu_is_a_family_of_its_own_and_a_missing_type_has_none():
    found = families_of(
        Texts.of(["Cast", "Cast", None, "Cast"]), Texts.of(["AI_CPU", "AI_VECTOR_CORE", "AI_CPU", None])
    )
    assert found.values() == ["ai_cpu", "movement", None, "movement"]
    assert set(found.names) == set(FAMILIES)
