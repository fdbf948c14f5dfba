# SPDX-License-Identifier: Apache-2.0
"""What became of one fix, for people: on the terminal and as Markdown."""
