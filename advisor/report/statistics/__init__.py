# SPDX-License-Identifier: Apache-2.0
"""Statistics as people and programs read them: a document, a spreadsheet, files of columns."""
