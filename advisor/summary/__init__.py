# SPDX-License-Identifier: Apache-2.0
"""What a report says of the run beside its findings: the account of its time, and what its charts draw."""
