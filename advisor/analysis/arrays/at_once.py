# SPDX-License-Identifier: Apache-2.0
"""When one thing counts as following another at once."""

from __future__ import annotations

AT_ONCE_NS = 20_000
"""What begins within 20 µs of something else followed it at once; a longer pause shows that it waited for more.

In the public captures with a timeline, two in five up to all of the launches to an idle device reach it within 20 µs of
the host's call, before or after it: clocks of host and device differ by as much. Collectives and waits on one stream
follow each other in less.
"""
