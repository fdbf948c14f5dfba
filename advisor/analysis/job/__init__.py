# SPDX-License-Identifier: Apache-2.0
"""What kind of job it is, and the steps of an engine that serves."""
