# SPDX-License-Identifier: Apache-2.0
"""For assistants: diagnoses, explanations, rules and tables, as tools of the Model Context Protocol (MCP)."""
