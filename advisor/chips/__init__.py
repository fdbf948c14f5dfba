# SPDX-License-Identifier: Apache-2.0
"""What is known of chips: which name counts, the files with their numbers, and the schema of these files."""
