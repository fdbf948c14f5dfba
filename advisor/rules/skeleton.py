# SPDX-License-Identifier: Apache-2.0
"""The file a new rule begins with: commented, and passing its own tests."""

from __future__ import annotations

import re

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.rules.schema import ID

_SKELETON = """\
# yaml-language-server: $schema=../schema.json
# Editors complete and check this file once `advisor rules schema > schema.json` was run in the folder of your rules.
# A rule reads as a sentence: for each rank in overlaps, let …, when … — see docs/writing-rules.md
id: {id:<35} # the path of this file, without its suffix
since: 0.1.0
status: preview                         # until the threshold has a source

title:                                  # the state, with its number; {{names}} are evidence or keys of for_each
  en: "The device is idle for {{idle_share}} of a step"
  zh: "设备在每个 step 中有 {{idle_share}} 的时间空闲"
why:                                    # why to care, not what to do
  en: While the device is idle the training makes no progress.
  zh: 设备空闲期间训练没有任何进展。

params:                                 # every threshold, and where it comes from
  tolerated:
    value: 0.10
    unit: share
    basis: {{en: To be calibrated., zh: 待校准。}}

for_each: [rank]                        # one judgement for each; [] for the run as a whole
in: overlaps                            # the one table it reads: see docs/reference/facts.md
let:                                    # names in order; each may use those before it
  idle_us: mean(free_us)
  idle_share: idle_us / mean(span_us)
when: idle_share > tolerated            # missing values make the rule skipped, not quiet
severity:                               # the first that holds; or just one level
  high: idle_share > 3 * tolerated
  medium: otherwise

evidence:
  - {{show: idle_share, en: Idle share of the step, zh: 空闲占比, threshold: tolerated}}
  - {{show: idle_us, en: Idle per step, zh: 每步空闲}}

saving:                                 # µs per step, an upper bound that can be defended
  us: idle_us
  assumes:
    en: Nothing else would have to wait instead.
    zh: 假设不会转而等待其他部分。
confidence: low

fix:                                    # what to do, in order; with run: or code:, and care: what may go wrong
  - do:
      en: Say what to do first.
      zh: 写明第一步做什么。

tests:                                  # one that fires is needed; one quiet at the edge says most
  - name: fires above a tenth
    given:
      overlaps: |
        rank step span_us free_us
        0    1    1000    200
    expect:
      - {{rank: 0, severity: medium, idle_share: 0.2, saving_us: 200}}
  - name: is quiet at a tenth
    given:
      overlaps: |
        rank step span_us free_us
        0    1    1000    100
    expect: quiet
  - name: says nothing about idle time that was not recorded
    given:
      overlaps: |
        rank step span_us free_us
        0    1    1000    -
    expect: skipped
"""


def new_rule(rule_id: str) -> str:
    """The text of a new rule file.

    Raises:
        UsageError: The id is not written category/name.
    """
    if not re.fullmatch(ID, rule_id):
        raise UsageError(Message("no_rule_id", name=rule_id), Message("rule_id_is_written"))
    return _SKELETON.format(id=rule_id)
