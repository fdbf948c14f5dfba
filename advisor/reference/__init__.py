# SPDX-License-Identifier: Apache-2.0
"""The pages that are written from the program itself: `python -m advisor.reference`."""
