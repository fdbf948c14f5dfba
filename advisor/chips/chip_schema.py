# SPDX-License-Identifier: Apache-2.0
"""The shape of an entry of a chip, in `advisor.yaml` and in `chips/*.yaml`, with what every key means, for editors and
for the page of chips. `chip_files` reads them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from advisor.chips.chip_files import LINKS, SOURCED
from advisor.chips.known_chips import DTYPES, VECTOR_DTYPES

LinkKind = Annotated[str, Field(json_schema_extra={"enum": list(LINKS)})]
Dtype = Annotated[str, Field(json_schema_extra={"enum": list(DTYPES)})]
VectorDtype = Annotated[str, Field(json_schema_extra={"enum": list(VECTOR_DTYPES)})]
SourcedKey = Annotated[str, Field(json_schema_extra={"enum": list(SOURCED)})]
Memory = Annotated[str, Field(pattern=r"^[0-9.]+ *([KMGT]i?B|B)$")]
_Rate = Annotated[float, Field(gt=0, lt=1e6)]
_Words = Annotated[str, Field(min_length=1)]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _NumbersFile(_Keys):
    source: str | None = Field(None, min_length=1, description="Where the numbers come from, in words.")
    sources: dict[SourcedKey, _Words] = Field(
        {}, description="Where a number comes from that is not of `source`, by its key."
    )
    clock_mhz: float | None = Field(None, gt=0, lt=1e5, description="Nominal clock of its cores, MHz.")
    cube_cores: float | None = Field(
        None, gt=0, lt=1e5, description="Cores with a cube unit, or what a GPU has in their place."
    )
    vector_cores: float | None = Field(None, gt=0, lt=1e5, description="Cores with vector units, where they are apart.")
    memory: Memory | None = Field(None, description="Device memory: `64GiB`.")
    l2: Memory | None = Field(None, description="Level-2 cache: `192MiB`.")
    memory_gbps: float | None = Field(
        None, gt=0, lt=1e6, description="Bandwidth of the device memory, 10^9 bytes per second."
    )
    tflops: dict[Dtype, _Rate] = Field(
        {}, description="Peak of dense matrix products by data type, 10^12 operations per second."
    )
    vector_tflops: dict[VectorDtype, _Rate] = Field(
        {}, description="Peak of the vector units by data type, 10^12 operations per second."
    )
    links_gbps: dict[LinkKind, _Rate] = Field(
        {}, description="Bandwidth of one link in one direction by its kind, 10^9 bytes per second."
    )


class ChipFile(_NumbersFile):
    """What is known of a chip: added to the table, or in place of what stands there."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["source"]}, {"required": ["sources"]}]})

    family: str | None = Field(None, description="The family that captures name in its place, such as `Ascend910B`.")
    also_called: list[str] = Field([], description="What people call it who do not write its full name.")


class PartFile(_NumbersFile):
    """What several chips have, by a name that they list in `parts`."""

    macs: dict[Dtype, _Rate] = Field(
        {}, description="Multiply-adds of one core in a cycle by data type; with cores and clock they give the peak."
    )
    lanes: dict[VectorDtype, _Rate] = Field(
        {}, description="Values that the vector unit of one core takes in a cycle by data type."
    )
    achieved_tflops: dict[Dtype, _Rate] = Field(
        {}, description="The most that products were measured to reach, where whoever makes the chip publishes that."
    )
    counts_cycles: bool = Field(
        False, description="Whether kernels count the cycles of its cores, which then tell a chip that nothing names."
    )


class ShippedChipFile(PartFile):
    """What is known of a chip that is shipped."""

    family: str | None = Field(None, description="The family that captures name in its place; it has an entry too.")
    also_called: list[str] = Field([], description="What people call it who do not write its full name.")
    recorded_as: list[str] = Field([], description="Other families that captures name for the chips of this one.")
    parts: list[str] = Field([], description="Names of `parts`; what the entry itself says stands in their place.")


class ChipsFile(_Keys):
    """A file of chips that are shipped, each number with its source."""

    model_config = ConfigDict(title="chips of advisor")

    sources: dict[SourcedKey, _Words] = Field(
        {}, description="Where the numbers of this file come from that name no other source, by their keys."
    )
    parts: dict[str, PartFile] = Field({}, description="What several chips have, by a name that they list in `parts`.")
    chips: dict[str, ShippedChipFile | None] = Field(description="By the name that captures record.")


def chips_schema() -> dict[str, Any]:
    """The JSON schema of a shipped file of chips."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ChipsFile.model_json_schema()}
