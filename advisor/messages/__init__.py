# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, and how it is said in both languages."""
