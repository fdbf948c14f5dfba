# SPDX-License-Identifier: Apache-2.0
"""AttentionMark: mstx marks of the domain `flash_attn_args`, out of the timeline or MSTX_EVENTS."""

from __future__ import annotations

from advisor.facts.observed import AttentionMark
from advisor.facts.table import Table
from advisor.sources.ascend.program_marks import marks_of_database, marks_of_timeline
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading
from advisor.sources.shared.attention_words import ATTENTION_DOMAIN, table_of_marks


def _from_text(folder: Folder) -> Table[AttentionMark]:
    marks = marks_of_timeline(folder).of(ATTENTION_DOMAIN)
    return table_of_marks(folder.rank, marks.thread, marks.start, marks.message, folder.timeline_name, folder.notes)


def _from_database(folder: Folder) -> Table[AttentionMark]:
    marks = marks_of_database(folder).of(ATTENTION_DOMAIN)
    file = folder.database().file
    return table_of_marks(folder.rank, marks.thread, marks.start, marks.message, file, folder.notes)


ATTENTION_MARKS = Reading(AttentionMark, {"text": _from_text, "database": _from_database})
