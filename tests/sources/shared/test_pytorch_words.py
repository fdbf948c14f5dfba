# SPDX-License-Identifier: Apache-2.0
"""Names that PyTorch writes into profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.facts.table import Texts
from advisor.sources.shared.pytorch_words import without_addresses


def test_a_python_call_is_called_the_same_in_every_run() -> None:
    names = Texts.of(["<built-in method cat of type object at 0x7d6b7761df60>", "aten::cat", None])
    again = Texts.of(["<built-in method cat of type object at 0x7bcd86e1df60>", "aten::cat", None])
    assert without_addresses(names).values() == without_addresses(again).values()
    assert without_addresses(names).values() == ["<built-in method cat of type object>", "aten::cat", None]


def test_objects_that_differ_by_their_address_alone_are_one_call() -> None:
    names = Texts.of([f"<built-in method step of X object at {address}>" for address in ("0x1f", "0x2A")])
    assert without_addresses(names).names == ("<built-in method step of X object>",)


def test_what_only_looks_like_an_address_stays() -> None:
    names = Texts.of(["run at 0x10 speed", "load.py(3): at 0x"])
    assert without_addresses(names) is names or without_addresses(names).values() == names.values()


@pytest.mark.parametrize(
    "name", ["gpu_kineto_models/h100_qwen1.5-0.5b.json.gz", "msinsight_pytorch_matrix/text/level1",
             "msinsight_pytorch_matrix/db/level1"]
)  # fmt: skip
def test_no_host_call_of_a_real_capture_is_named_by_an_address(real_data: Path, name: str) -> None:
    names = advisor.load_profile(real_data / name).table("host_calls").texts("name").in_use().names
    assert any(one.startswith("<built-in ") for one in names)
    assert not [one for one in names if " object at 0x" in one]
