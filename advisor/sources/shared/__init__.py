# SPDX-License-Identifier: Apache-2.0
"""What several families of sources have alike: words of the frameworks, names of ranks and hosts, and sums of steps."""
