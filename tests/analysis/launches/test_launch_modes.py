# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from advisor.analysis.launches.launch_modes import launch_modes
from advisor.facts.derived import LaunchDelay
from advisor.facts.observed import Setting
from advisor.facts.table import read_table
from advisor.messages.errors import FactMissing

SETTINGS = "rank kind name value number\n0 env ASCEND_LAUNCH_BLOCKING 1 1\n0 env HCCL_ALGO - -"
HELD = "rank step cause lost_us\n0 1 drain 300\n0 1 host 50\n0 2 host 50\n1 1 drain 900"


def test_the_loss_is_that_of_the_waits_of_the_rank_by_step():
    (row,) = launch_modes(read_table(Setting, SETTINGS), read_table(LaunchDelay, HELD)).rows()
    assert row == {"rank": 0, "name": "ASCEND_LAUNCH_BLOCKING", "value": "1", "number": 1.0, "lost_us": 150.0}


def test_an_unknown_loss_is_missing():
    table = launch_modes(read_table(Setting, SETTINGS), None)
    assert math.isnan(table["lost_us"][0])


def test_a_variable_that_was_not_recorded_is_no_mode():
    with pytest.raises(FactMissing):
        launch_modes(read_table(Setting, "rank kind name value number\n0 env HCCL_ALGO ring -"), None)
