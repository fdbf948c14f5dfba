# SPDX-License-Identifier: Apache-2.0
"""What people and programs are given of a Comparison: terminal, HTML, Markdown, JSON, spreadsheet, CSV."""
