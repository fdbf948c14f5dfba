# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a document, and as a page."""
