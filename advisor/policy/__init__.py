# SPDX-License-Identifier: Apache-2.0
"""What a project demands: settings, which findings fail a run, budgets, suppressions, and the gate."""
