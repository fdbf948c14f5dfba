# SPDX-License-Identifier: Apache-2.0
"""Whether a run may pass, for people."""
