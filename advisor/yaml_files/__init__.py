# SPDX-License-Identifier: Apache-2.0
"""Files that people write in YAML: what they say, where they say it, and what is wrong with them."""
