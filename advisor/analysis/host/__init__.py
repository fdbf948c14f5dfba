# SPDX-License-Identifier: Apache-2.0
"""What the host did: its calls by kind, what they cost, and when the device waited for them."""
