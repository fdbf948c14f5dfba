# SPDX-License-Identifier: Apache-2.0
"""Whether all was recorded."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Key, Name, Rank, Step, Us, Volatile
from advisor.messages.text import Text


class Witness(Fact):
    """One sum that the profiler wrote next to the events, and what the events themselves add up to.

    Ranks whose list of kernels is known to lack rows have none: there the sums are believed.
    """

    table = "witnesses"
    called = Text("the profiler's own sums", "profiler 自己的统计")
    observed = False
    of_all_steps = True

    rank: Rank
    witness: Annotated[
        str,
        Key(
            "`overlap_analysis` (the lane of the timeline, or the table of that name), `step_trace_time` "
            "(StepTraceTime) or `op_statistic`."
        ),
    ]
    part: Annotated[str, Key("`compute` or `exposed_comm`.")]
    said_us: Annotated[float, Us("As the profiler summed it up: over the steps, or over the whole capture.")]
    found_us: Annotated[
        float, Us("The same time of kernels and collectives; for `op_statistic` their durations added up.")
    ]
    whole_us: Annotated[float, Us("All the time the witness speaks of.")]


class RankCoverage(Fact):
    """How much of one table of a rank is there, by another table of it that needs its rows.

    Whole captures have all of it. A table that no other needs rows of has no row here: what is gone of it is not known.
    One row is of the whole recording, without a step; each step that lacks some has one more.
    """

    table = "rank_coverage"
    called = Text("how much of each file is there", "各文件的完整程度")
    observed = False
    of_all_steps = True

    rank: Rank
    step: Step
    of: Annotated[
        str,
        Key(
            "Table that is looked at: `launches`, `host_calls`, `device_tasks`, `kernels`, `collectives`, `transfers`, "
            "`api_totals`, `step_windows` or `step_times`."
        ),
    ]
    by: Annotated[str, Key("Table whose rows each need one of it, or that counted them.")]
    needed: Annotated[float, Count("Rows of the other table that need a row in this one.")]
    matched: Annotated[float, Count("Of these, rows whose counterpart is there.")]
    hole: Annotated[
        float,
        Count(
            "Longest run in time of rows without a counterpart between two that have one; missing where only "
            "numbers are compared."
        ),
    ]
    file: Annotated[str, Key("File that holds the table, or table of the database.")]


class Coverage(Fact):
    """How much of one table of a rank is there, by other tables of it, and by the calls that other ranks recorded.

    One row is of the whole recording, without a step; each step that lacks some has one more.
    """

    table = "coverage"
    called = Text("how much of each file is there", "各文件的完整程度")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    of: Annotated[str, Key("Table that is looked at, as in `rank_coverage`.")]
    by: Annotated[
        str, Key("Table whose rows each need one of it; `collectives` by `collectives` are those of other members.")
    ]
    needed: Annotated[float, Count("Rows of the other table that need a row in this one.")]
    matched: Annotated[float, Count("Of these, rows whose counterpart is there.")]
    hole: Annotated[
        float,
        Count(
            "Longest run in time of rows without a counterpart between two that have one; missing where only "
            "numbers are compared."
        ),
    ]
    file: Annotated[str, Key("File that holds the table, or table of the database.")]


class DifferingDescription(Fact):
    """What captures of one run say of it where they do not all say the same: a row for each value, in the order of how
    many ranks say it, those that most say first."""

    table = "differing_descriptions"
    called = Text("what ranks say of their job and software", "各卡记录的任务规模与软件版本")
    observed = False
    of_all_steps = True
    across_ranks = True

    rank: Annotated[int, Volatile("The first rank that says so.")]
    about: Annotated[str, Key("`ranks` (how many the job has), `CANN` or `torch_npu` (their version).")]
    value: Annotated[str, Key("What is said.")]
    ranks_saying: Annotated[int, Count("Ranks that say so.")]
    which: Annotated[str, Name("These ranks, such as `0-7, 9`.")]


class RanksSetAside(Fact):
    """Ranks that nobody could read to their end, by what workers were lost for."""

    table = "ranks_set_aside"
    called = Text("ranks that were set aside", "被跳过的卡")
    observed = False
    of_all_steps = True
    across_ranks = True

    rank: Annotated[int, Volatile("The first of them.")]
    cause: Annotated[
        str,
        Key("`memory` (workers died over them, probably for lack of it) or `time` (they took longer than they may)."),
    ]
    ranks_lost: Annotated[int, Count("How many ranks.")]
    which: Annotated[str, Name("These ranks, such as `0-7, 9`.")]
