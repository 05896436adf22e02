"""A query service, asked politely: one request at a time, paced, named, every reply kept.

What Wikimedia asks of clients (User-Agent policy, query limits of the Wikidata Query Service): say
who you are, wait as long as ``Retry-After`` says, do not ask twice. A reply that breaks off in the
middle, as after a time-out there, counts as a failure and is asked again.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType

import msgspec

from sayso import __version__
from sayso.atomic import disk_errors, replacing
from sayso.records import InputError, content_id

#: seconds between two requests, until a reply, of a first back-off, and of the longest wait
PAUSE, PATIENCE, BACKOFF, LONGEST_WAIT = 1.0, 90.0, 2.0, 300.0
TRIES = 6
LARGEST = 256_000_000
#: statuses that mean "later"
LATER = frozenset((408, 425, 429, 500, 502, 503, 504))


class Term(msgspec.Struct, frozen=True):
    """One value of a row: "uri", "literal" or "bnode", and the language of a literal."""

    value: str
    type: str = "literal"
    language: str = msgspec.field(default="", name="xml:lang")


Row = dict[str, Term]


class _Results(msgspec.Struct):
    bindings: list[Row]


class _Reply(msgspec.Struct):
    results: _Results


class _Stored(msgspec.Struct):
    day: str
    rows: list[Row]


class ServiceError(Exception):
    """The service did not answer this query, however often it was asked."""


class Service:
    """One query service. ``asked`` counts requests that were sent, ``cached`` replies on disk.

    ``day`` is the earliest day on which a reply that was used came in: what they all describe.
    """

    def __init__(
        self,
        endpoint: str,
        cache: Path,
        *,
        contact: str = "",
        pause: float = PAUSE,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise InputError(
                f"--endpoint {endpoint}: expected the address of a SPARQL service, "
                "https://query.wikidata.org/sparql"
            )
        self.endpoint, self.cache = endpoint, cache
        contact = contact or os.environ.get("SAYSO_CONTACT", "")
        told = "".join(c for c in contact if " " <= c <= "~")[:200]
        self.agent = f"sayso/{__version__} ({told or 'no contact given'}) python-urllib"
        self.named = bool(told)
        self.asked = self.cached = 0
        self.day = ""
        self._pause = pause
        self._sleep, self._clock = sleep or time.sleep, clock or time.monotonic
        self._due = 0.0
        self._tell = tell or (lambda text: None)

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing stays open between requests."""

    def ask(self, query: str) -> list[Row]:
        """Return the rows of a query, from disk where it was asked before.

        Raises :class:`ServiceError` where the service does not manage, InputError where it cannot
        be reached or refuses.
        """
        place = self.cache / f"{content_id([self.endpoint, query])}.json"
        stored = self._stored(place)
        if stored is None:
            rows = self._fetch(query)
            stored = _Stored(datetime.now(UTC).date().isoformat(), rows)
            with replacing(place) as file:
                file.write(msgspec.json.encode(stored))
        else:
            self.cached += 1
        self.day = min(self.day or stored.day, stored.day)
        return stored.rows

    def ask_or_stop(self, query: str) -> list[Row]:
        """Return the rows of a query that cannot be made smaller; InputError where it fails."""
        try:
            return self.ask(query)
        except ServiceError as error:
            raise InputError(
                f"{self.endpoint}: {error}; the same command goes on where it was"
            ) from None

    def ask_for(self, ids: Sequence[str], query: Callable[[Sequence[str]], str]) -> list[Row]:
        """Ask about ids together; what the service cannot manage at once is asked in halves."""
        if len(ids) < 2:
            return self.ask_or_stop(query(ids))
        with contextlib.suppress(ServiceError):  # it may manage less at once
            return self.ask(query(ids))
        half = len(ids) // 2
        return self.ask_for(ids[:half], query) + self.ask_for(ids[half:], query)

    def _stored(self, place: Path) -> _Stored | None:
        try:
            return msgspec.json.decode(place.read_bytes(), type=_Stored)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):  # a damaged file is asked for again
            return None
        except OSError:
            with disk_errors(place, "read"):
                raise

    def _fetch(self, query: str) -> list[Row]:
        why = ""
        for attempt in range(TRIES):
            self._sleep(max(0.0, self._due - self._clock()))
            wait = min(BACKOFF * 2**attempt, LONGEST_WAIT)
            try:
                self.asked += 1
                data = self._send(query)
                if data.lstrip()[:1] == b"<":
                    raise InputError(
                        f"{self.endpoint}: sent a page or XML, not JSON; expected the address of a "
                        "SPARQL service, https://query.wikidata.org/sparql"
                    )
                return msgspec.json.decode(data, type=_Reply).results.bindings
            except urllib.error.HTTPError as error:
                why = f"answered {error.code}"
                asked = retry_after(dict(error.headers))
                body = _first_line(error)
                error.close()
                if error.code not in LATER:
                    raise InputError(
                        f"{self.endpoint}: {why} ({body}); is it a SPARQL service of a Wikibase?"
                    ) from None
                if asked is not None and asked > LONGEST_WAIT:
                    raise InputError(
                        f"{self.endpoint}: {why} and asks to wait {asked / 60:,.0f} minutes; the "
                        "same command goes on where it was"
                    ) from None
                wait = wait if asked is None else asked
            except (msgspec.DecodeError, UnicodeDecodeError, http.client.HTTPException):
                why = "sent a reply that breaks off"
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                reason = getattr(error, "reason", None) or error
                why = f"cannot be reached ({' '.join(str(reason).split())})"
            finally:
                self._due = self._clock() + self._pause
            self._due = self._clock() + max(wait, self._pause)
            if attempt + 1 < TRIES:
                self._tell(f"{self.endpoint} {why}; asked again in {max(wait, self._pause):.0f} s")
        if why.startswith("cannot be reached"):
            raise InputError(f"{self.endpoint}: {why}; the same command goes on where it was")
        raise ServiceError(f"{why}, {TRIES} times")

    def _send(self, query: str) -> bytes:
        request = urllib.request.Request(
            self.endpoint,
            data=urllib.parse.urlencode({"query": query}).encode(),
            headers={
                "Accept": "application/sparql-results+json",
                "Content-Type": "application/x-www-form-urlencoded",
                "User-Agent": self.agent,
            },
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            data: bytes = reply.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise InputError(f"{self.endpoint}: a reply above {LARGEST >> 20} MB; ask for less")
        return data


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply asks to wait, ``None`` where it says nothing."""
    text = next((v for k, v in headers.items() if k.lower() == "retry-after"), "")
    try:
        seconds = float(text)
        return max(0.0, seconds) if seconds == seconds else None
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
        now = parsedate_to_datetime(headers["Date"]) if "Date" in headers else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _first_line(error: urllib.error.HTTPError) -> str:
    try:
        text = error.read(2000).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return "no reason given"
    plain = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return plain[:150] or "no reason given"


__all__ = ["Row", "Service", "ServiceError", "Term", "retry_after"]
