# SPDX-License-Identifier: Apache-2.0
"""Where in the model the work lies: modules, their operators, and what is computed twice or for nothing."""
