# SPDX-License-Identifier: Apache-2.0
"""What some steps or calls have and their like have not."""
