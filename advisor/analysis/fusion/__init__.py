# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators: those that a fused one replaces, and those that repeat."""
