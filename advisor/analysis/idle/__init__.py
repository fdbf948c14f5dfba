# SPDX-License-Identifier: Apache-2.0
"""Why devices were idle, in steps and between them."""
