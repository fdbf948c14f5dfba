# SPDX-License-Identifier: Apache-2.0
"""What was published of jobs in production is what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.production import FOLDER, JOBS, PublishedJob, diagnose_windows


@pytest.mark.parametrize("job", JOBS, ids=[job.name for job in JOBS])
def test_the_published_cause_of_a_job_in_production_leads_but_for_its_number_of_micro_batches(
    job: PublishedJob, real_data: Path
) -> None:
    (window,) = diagnose_windows(job, real_data / FOLDER, 1)
    assert window.first in job.rules
    assert window.published_share / 3 < window.saving_share < window.published_share
