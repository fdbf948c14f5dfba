# SPDX-License-Identifier: Apache-2.0
"""The charts of a report: what they draw, and the process that draws them."""
