# SPDX-License-Identifier: Apache-2.0
"""Faults put into real captures: the recorded step read as a program, changed, re-run and written again."""
