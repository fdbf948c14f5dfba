# SPDX-License-Identifier: Apache-2.0
"""What is handed on and saved: the run, a diagnosis and its findings, comparison, verdict, explanation."""
