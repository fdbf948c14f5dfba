# SPDX-License-Identifier: Apache-2.0
"""What people and programs are given: a Diagnosis written out as HTML, Markdown, JSON or on the terminal."""
