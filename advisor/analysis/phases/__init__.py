# SPDX-License-Identifier: Apache-2.0
"""The phases of MindSpore's steps and the way of the data to them."""
