# SPDX-License-Identifier: Apache-2.0
"""Who does the work of each rank (see `Gather`): reading it, and deriving from it what is wanted."""
