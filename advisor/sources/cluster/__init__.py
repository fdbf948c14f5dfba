# SPDX-License-Identifier: Apache-2.0
"""What a cluster analysis summed up over all ranks."""
