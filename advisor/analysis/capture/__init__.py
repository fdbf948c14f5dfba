# SPDX-License-Identifier: Apache-2.0
"""Whether all was recorded: one table beside another."""
