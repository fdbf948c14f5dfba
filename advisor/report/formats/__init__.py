# SPDX-License-Identifier: Apache-2.0
"""Formats that other programs read: one module each, from what is known of a run to text."""
