# SPDX-License-Identifier: Apache-2.0
"""What if: a rank run anew without some of its host time or some of its kernels."""
