"""How old the provider's prompt cache is and how long it still lives, from what requests report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.models.provider import Usage

SHORT_LIFE = timedelta(minutes=5)
LONG_LIFE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CacheClock:
    """When the cache was last written or read, and its lifetime; both None while unknown."""

    touched: datetime | None = None
    life: timedelta | None = None

    def seen(self, usage: Usage, when: datetime) -> CacheClock:
        """The clock after a request that began at `when`.

        A read renews the life. When both lifetimes were written the shorter one counts, because
        the end of the conversation is what was written with it. A request that neither read nor
        wrote leaves the clock alone.
        """
        if usage.cache_write_5m:
            return CacheClock(when, SHORT_LIFE)
        if usage.cache_write_1h:
            return CacheClock(when, LONG_LIFE)
        if usage.cache_read:
            return CacheClock(when, self.life or SHORT_LIFE)
        return self

    def age(self, now: datetime) -> timedelta | None:
        """Time since the last touch, never negative; None while unknown."""
        if self.touched is None:
            return None
        return max(now - self.touched, timedelta())

    def remaining(self, now: datetime) -> timedelta | None:
        """Life that is left, zero once it has run out; None while unknown."""
        age = self.age(now)
        if age is None or self.life is None:
            return None
        return max(self.life - age, timedelta())
