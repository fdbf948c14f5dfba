# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit code out."""
