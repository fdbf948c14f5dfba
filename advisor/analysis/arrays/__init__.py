# SPDX-License-Identifier: Apache-2.0
"""Arrays: groups of rows, intervals of time, turns, and what one table counts of another."""
