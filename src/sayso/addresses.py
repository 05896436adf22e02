"""Addresses in texts: what of one must not be printed, stored or hashed.

A user name and password, a query, and a parameter such as ``;key=`` may be secrets, in whichever
spelling a client would send them: with an upper-case scheme, blanks, backslashes, without slashes,
percent-encoded (``%40``), in wide characters, or without a scheme. :func:`redact` hides them,
:func:`has_secret` says whether there are any. Every :class:`~sayso.records.InputError` and every
line of the command line is redacted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from sayso.keys import hide_sent

HIDDEN = "[hidden]"
#: names of a model's kind, after which ``@`` begins a revision, and of what is no login
KINDS = r"hf|vllm|gguf|ollama|openai|api|mailto"
_AT, _COLON = r"(?:@|%(?:25)*40|＠|﹫)", r"(?::|%(?:25)*3a|：)"
_SLASH = r"(?:[/\\／＼]|%(?:25)*(?:2f|5c))"
#: an address begins: a scheme of the web, or any with slashes
_BEGIN = re.compile(
    rf"(?<![a-z0-9])(?P<web>https?|wss?|ftps?|socks\w{{0,2}})\s*{_COLON}(?P<slashes>{_SLASH}*)\s*"
    rf"|(?<![a-z0-9])[a-z][a-z0-9+.-]{{1,30}}{_COLON}(?P<more>{_SLASH}+)\s*",
    re.IGNORECASE,
)
#: the same without a scheme: name:password@host
_LOGIN = re.compile(
    rf"(?:(?<![\w./:@-])|(?<=--)(?!-))(?:[/\\]{{2}})?(?!(?:{KINDS})[:+])"
    r"[\w.+-]{1,256}:[^\s/\\'\"<>@]{1,1024}@"
    r"(?=(?:localhost|[\w-]+(?:\.[\w-]+)*(?::\d+)|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}"
    r"|\d+\.\d+\.\d+\.\d+|[\w-]+(?=/))(?:[/:\\?#,'\")\s]|$))",
    re.IGNORECASE,
)
#: a parameter that is named after a secret, with its value
_PARAMETER = re.compile(
    r"(?P<name>[;?&#][\w.-]{0,60}(?:key|token|secret|pass|pwd|pw|auth|sig|credential|access)"
    r"[\w.-]{0,60}"
    r"(?:=|%(?:25)*3d))(?P<value>[^\s&;#'\"<>]+)",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(r"[^/\\／＼?#'\"<>\n]{0,300}")
_RUN = re.compile(r"[^\s'\"<>]*")
#: as much of it as a login without slashes is looked for in
_WORD = re.compile(r"[^\s'\"<>]{0,300}")
_PORT = re.compile(r"(?:\[[^\]]*\]|[^\s:：]*)[:：](?P<port>[^\s,;)\]]+)")


def redact(text: str) -> str:
    """Return a text with the logins, queries and keys of its addresses hidden, and the tokens and
    logins that the environment has for a hub or a proxy."""
    shown = _hidden(hide_sent(text))
    # what only a client's reading of an address brings to light
    return _hidden(_readings(shown)[-1]) if has_secret(shown) else shown


def _hidden(text: str) -> str:
    shown, place = [], 0
    for start, end, _ in sorted(_secrets(text)):
        if start >= place:
            shown += [text[place:start], HIDDEN]
        place = max(place, end)
    return "".join([*shown, text[place:]])


def has_secret(text: str) -> bool:
    """Tell whether an address in a text has a login or a key, however it is spelled."""
    return any(sure for one in _readings(text) for _, _, sure in _secrets(one))


def _readings(text: str) -> tuple[str, ...]:
    """Return a text, as a client reads an address in it, and the same without quotes."""
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(c for c in plain if unicodedata.category(c) != "Cc")  # as urlsplit drops them
    for _ in range(3):
        plain = unquote(plain)
    return text, plain, re.sub(r"['\"<>]", "", plain)


def _secrets(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where a text has what may be a secret, and whether it surely is one."""
    if ":" not in text and "%3" not in text and "：" not in text:
        return
    for found in _LOGIN.finditer(text):
        yield found.start(), found.end() - 1, True
    end = parameters = query = -1  # how far a word of several addresses was looked through
    for begin in _BEGIN.finditer(text):
        first = begin.end()
        if first > end:
            run = _RUN.match(text, first)
            end = parameters = run.end() if run else first
            parameters, query = first, first - 1
        slashes = begin["slashes"] or begin["more"]
        authority = (_AUTHORITY if slashes else _WORD).match(text, first)
        login = _login(text, first, authority.end() if authority else first, end)
        if login is not None and begin["more"] and len(begin["more"]) == 1:
            # "hf:/folder@1" is a file, and only a name with a password makes a login
            login = login if ":" in text[first : login[0]] and login[1] else None
        last = end
        if login is not None:
            yield first, *login
            last = max(end, login[0])
        if parameters < last:  # of a word with several addresses they are looked for once
            for parameter in _PARAMETER.finditer(text, max(first, parameters), last):
                yield *parameter.span("value"), parameter["value"] != HIDDEN
            parameters = last
        if begin["web"] and query < first:  # the query, if any, of this address and earlier ones
            query = text.find("?", first, last)
            hash_ = text.find("#", query, last) if query >= 0 else -1
            if query >= 0:
                yield query + 1, hash_ if hash_ >= 0 else last, False
            else:
                query = last


def _login(text: str, first: int, authority: int, end: int) -> tuple[int, bool] | None:
    """Return where the login of an address ends, and whether there surely is one."""
    if ats := list(re.finditer(_AT, text[first:authority], re.IGNORECASE)):
        login = text[first : first + ats[-1].start()]
        return first + ats[-1].start(), login != HIDDEN
    port = _PORT.match(text, first, authority)
    if port is None or port["port"].rstrip(".:…").isdecimal():
        return None
    # no port: the beginning of a password with a character that would have to be encoded
    if ats := list(re.finditer(_AT, text[first : min(end, first + 300)], re.IGNORECASE)):
        return first + ats[-1].start(), True
    return end, False
