# SPDX-License-Identifier: Apache-2.0
"""Collectives and transfers: how long they wait, move and take, and over which links."""
