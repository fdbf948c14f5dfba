# SPDX-License-Identifier: Apache-2.0
"""How files are read, whatever wrote them: text tables, JSON, SQLite, Chrome traces. Knows no fact and no capture."""
