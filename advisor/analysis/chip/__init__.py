# SPDX-License-Identifier: Apache-2.0
"""What the chip was used for: memory, traffic, clock."""
