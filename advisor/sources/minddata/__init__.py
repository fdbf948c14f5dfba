# SPDX-License-Identifier: Apache-2.0
"""What both profilers of MindSpore write of the preparation of data: one format, read here for either family."""
