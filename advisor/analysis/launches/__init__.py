# SPDX-License-Identifier: Apache-2.0
"""How work was launched, and what held the host up so that the device waited."""
