# SPDX-License-Identifier: Apache-2.0
"""Why a rule said what it said, for people: on the terminal and as Markdown."""
