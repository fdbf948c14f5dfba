# SPDX-License-Identifier: Apache-2.0
"""Every message in English and in Chinese, by its code: a module per place where messages arise.

`{name}` is a hole; what stands in it is given with the code. Sentences begin small and have no full stop.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.catalogue import commands, damage, expressions, forges, inputs, phrases, queries, rules, settings
from advisor.messages.text import Text

PARTS: tuple[Mapping[str, Text], ...] = tuple(
    place.TEXTS for place in (phrases, rules, settings, expressions, commands, queries, inputs, damage, forges)
)
CATALOGUE: Mapping[str, Text] = {code: text for part in PARTS for code, text in part.items()}
