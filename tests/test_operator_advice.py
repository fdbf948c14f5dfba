# SPDX-License-Identifier: Apache-2.0
"""What is said of operators suits them, from the files a profiler writes to the steps of the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.model.findings import Diagnosis, Finding

HEADINGS = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "Input Shapes,Input Data Types,Input Formats,Output Shapes"
)
HALF = "FLOAT16;FLOAT16"
PATCHES = ("Conv2D", "AI_CORE", 9600, "64,1,224,224,16;256,48,16,16", "NC1HWC0;FRACTAL_Z", "64,48,14,14,16")
SLIDING = ("Conv2D", "AI_CORE", 9600, "64,1,224,224,16;144,48,16,16", "NC1HWC0;FRACTAL_Z", "64,48,224,224,16")
PRODUCT = ("MatMulV3", "AI_CORE", 120, "12544,768;768,768", "ND;ND", "12544,768")
SUM = ("Add", "AI_VECTOR_CORE", 80, "64,196,768;64,196,768", "ND;ND", "64,196,768")


def diagnosed(folder: Path, *kernels: tuple[str, str, int, str, str, str]) -> Diagnosis:
    """Three steps of these kernels, back to back."""
    lines, moment = [HEADINGS], 1736405443881410
    for step in (1, 2, 3):
        for op_type, core, took, inputs, formats, output in kernels:
            lines.append(
                f"{step},aclnn_{op_type},{op_type},{core},{moment}.000\t,{took},1,20,"
                f'"""{inputs}""",{HALF},{formats},"""{output}"""'
            )
            moment += took + 1
    output_folder = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output_folder.mkdir(parents=True)
    (output_folder / "kernel_details.csv").write_text("\n".join(lines) + "\n")
    return advisor.diagnose(folder / "rank0_ascend_pt")


def finding(diagnosis: Diagnosis, rule: str) -> Finding:
    return next(found for found in diagnosis.findings if found.rule == rule)


def test_a_patch_embedding_that_fills_the_step_leads_with_what_a_product_would_save(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, PATCHES, PRODUCT, SUM, SUM, SUM).findings[0]
    assert (found.rule, found.severity.name) == ("compute/patch-convolution", "critical")
    product_us = 2 * (64 * 224 * 224 * 16) * 768 / (2 * 12544 * 768 * 768 / 120)
    assert found.saving.us == pytest.approx(9600 - product_us, rel=0.01)


def test_a_patch_embedding_without_a_product_beside_it_is_critical_and_nothing_is_promised(tmp_path: Path) -> None:
    found = finding(diagnosed(tmp_path, PATCHES, SUM, SUM, SUM, SUM), "compute/patch-convolution")
    assert (found.severity.name, found.saving.us) == ("critical", 0)


def test_a_convolution_that_slides_is_left_alone(tmp_path: Path) -> None:
    rules = {found.rule for found in diagnosed(tmp_path, SLIDING, PRODUCT, SUM).findings}
    assert "compute/patch-convolution" not in rules
    assert "compute/top-operators" in rules


def test_a_kernel_somebody_wrote_is_told_to_load_larger_tiles(real_data: Path) -> None:
    folder = real_data / "helix_fixtures" / "standalone_real_output"
    if not folder.is_dir():
        pytest.skip("this capture is not in the folder of real data")
    found = finding(advisor.diagnose(folder), "compute/memory-bound-operator")
    assert found.subject["op_type"] == "matmul_kernel"
    assert found.fix == (7, 9)
