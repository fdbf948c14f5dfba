# SPDX-License-Identifier: Apache-2.0
"""How much kernels have to do, and how near they come to what the chip can."""
