# SPDX-License-Identifier: Apache-2.0
"""Blocks in each format: a module per format."""
