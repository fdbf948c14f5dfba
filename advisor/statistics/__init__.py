# SPDX-License-Identifier: Apache-2.0
"""Tables that engineers read beside a diagnosis: how often, how long, on which rank; they judge nothing."""
