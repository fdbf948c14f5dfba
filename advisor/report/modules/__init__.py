# SPDX-License-Identifier: Apache-2.0
"""Where in the model time goes, as people and programs read it."""
