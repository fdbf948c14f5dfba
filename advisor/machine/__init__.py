# SPDX-License-Identifier: Apache-2.0
"""The machine that this runs on: regular files and folders, memory that is given back, and the process itself."""
