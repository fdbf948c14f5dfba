# SPDX-License-Identifier: Apache-2.0
"""Operators: how long they take, by type, input and step, and what the hardware counted in them."""
