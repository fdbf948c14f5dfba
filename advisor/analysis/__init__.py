# SPDX-License-Identifier: Apache-2.0
"""What follows from what was recorded: one module per derivation, tables in, one table out.

Derivations are pure and hold no judgement: when a number is a problem is for rules to say.
"""

from __future__ import annotations

from advisor.analysis.call_totals import call_totals
from advisor.analysis.collective_calls import collective_calls, meetings
from advisor.analysis.dispatch import dispatches
from advisor.analysis.frequency import frequency_uses
from advisor.analysis.fusion import fusible_chains
from advisor.analysis.gaps import gaps
from advisor.analysis.handovers import handovers
from advisor.analysis.holdup_calls import holdup_calls
from advisor.analysis.holdups import holdups
from advisor.analysis.host_costs import host_costs
from advisor.analysis.host_kinds import host_kinds
from advisor.analysis.idle_causes import idle_causes
from advisor.analysis.interruptions import interruptions
from advisor.analysis.kernel_counts import kernel_lengths, shape_counts
from advisor.analysis.launch_modes import launch_modes
from advisor.analysis.launch_queues import launch_latencies, launch_waits
from advisor.analysis.links import link_uses
from advisor.analysis.longest_collectives import longest_calls
from advisor.analysis.memory import memory_peaks, module_peaks
from advisor.analysis.moved_packets import moves
from advisor.analysis.operators import operator_shapes, operators
from advisor.analysis.overlap import overlaps
from advisor.analysis.patches import patch_convolutions
from advisor.analysis.pipeline import stage_times
from advisor.analysis.ranks import rank_times
from advisor.analysis.recorded_spans import recorded_spans
from advisor.analysis.removals import removals
from advisor.analysis.spending import spending
from advisor.analysis.stalls import stalls
from advisor.analysis.steps import step_spans
from advisor.analysis.witnesses import witnesses
from advisor.facts.profile import Derivation

DERIVATIONS: tuple[Derivation, ...] = (
    overlaps,
    witnesses,
    spending,
    dispatches,
    launch_latencies,
    launch_waits,
    gaps,
    idle_causes,
    stalls,
    interruptions,
    host_kinds,
    call_totals,
    host_costs,
    handovers,
    holdups,
    holdup_calls,
    launch_modes,
    removals,
    operators,
    operator_shapes,
    kernel_lengths,
    shape_counts,
    fusible_chains,
    patch_convolutions,
    collective_calls,
    moves,
    meetings,
    longest_calls,
    rank_times,
    link_uses,
    stage_times,
    step_spans,
    recorded_spans,
    memory_peaks,
    module_peaks,
    frequency_uses,
)
"""Everything that can be derived, one function per fact of `facts.derived`."""
