# SPDX-License-Identifier: Apache-2.0
"""How often the diagnosis is right: generated captures with known causes, marked. See `docs/accuracy.md`."""
