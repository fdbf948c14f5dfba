# SPDX-License-Identifier: Apache-2.0
"""What a step is made of: its beginning and end, what the devices did in it, and whether it was recorded whole."""
