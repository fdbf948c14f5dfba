# SPDX-License-Identifier: Apache-2.0
"""Ranks beside one another: stages of a pipeline, experts, links, and whom the others wait for."""
