# SPDX-License-Identifier: Apache-2.0
"""What becomes of damaged captures: mutated, read and diagnosed under limits. See `docs/reliability.md`."""
