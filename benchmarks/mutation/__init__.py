# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: small faults are put into the code one at a time, and the tests that run the place must notice."""
