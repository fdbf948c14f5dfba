# SPDX-License-Identifier: Apache-2.0
"""The bot: one comment on a pull request that says what a diagnosis found, kept up to date in place."""
