# SPDX-License-Identifier: Apache-2.0
"""An inspection in words."""
