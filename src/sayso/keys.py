"""Keys, tokens and passwords that we send, and texts of others that repeat them.

A server may give a key back in an answer, an error or a reason, as it is or in a spelling of JSON,
of an address or of a web page. :func:`hide_key` finds all of these, :func:`hide_sent` those that
the environment has for the hub and for proxies.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from functools import lru_cache
from urllib.parse import unquote

#: fewer characters, or one lower-case word, may stand in an answer by chance
SHORTEST_KEY = 8
_WORD = re.compile(r"[a-z]{1,15}")
#: variables whose values are sent to a hub or an endpoint
_SENT = re.compile(r"HF_TOKEN|HUGGING_FACE_HUB_TOKEN|OPENAI_API_KEY|SAYSO_API_KEY\w*")
#: how keys of providers look
_KEY = re.compile(r"\bsk-(?=[\w-]{0,200}\d)[\w-]{16,200}")
#: how a web page names characters
_NAMED = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}
#: how a spelling of a character other than itself begins
_SPELLED = re.compile(r"[\\%&]")


def is_secret(key: str) -> bool:
    """Tell a key from a placeholder for a server without keys, such as "test" or "password"."""
    return len(key) >= SHORTEST_KEY and _WORD.fullmatch(key) is None


def holds_key(text: str) -> bool:
    """Tell whether a text has what looks like a provider's key, or ends with one that we send."""
    ours = (value for name, value in os.environ.items() if _SENT.fullmatch(name))
    return bool(_KEY.search(text)) or any(is_secret(k) and text.endswith(k) for k in ours)


def hide_key(text: str, key: str, shown: str = "[key]") -> str:
    """Return a text with ``shown`` for a key, in whichever spelling it stands there."""
    if not key:
        return text
    if _SPELLED.search(text) is None:
        return text.replace(key, shown)
    return _spellings(key).sub(lambda found: shown, text)


@lru_cache(maxsize=256)
def _spellings(key: str) -> re.Pattern[str]:
    r"""Return what matches a key as it is, in JSON (``\"``, ``\u0022``), also in JSON inside JSON,
    percent-encoded (``%22``, ``%2522``), and in a web page (``&quot;``, ``&#34;``).

    A text is searched in a time that grows with its length.
    """
    return re.compile("".join(map(_spelling, re.findall(r"\\+|[^\\]", key, re.DOTALL))))


def _spelling(part: str) -> str:
    """Return the pattern of one character, or of a run of backslashes."""
    character, count = part[0], len(part)
    code = f"{ord(character):02x}"
    hexadecimal = "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in code)
    plain = re.escape(character)
    if character in '"/':
        plain = rf"\\{{0,7}}{plain}"
    others = [
        rf"%(?:25){{0,4}}{hexadecimal}",
        rf"\\{{1,4}}u00{hexadecimal}",
        rf"&#0{{0,4}}(?:{ord(character)}|[xX]0{{0,4}}{hexadecimal});",
    ]
    if character in _NAMED:
        others.append(f"&{_NAMED[character]};")
    if character == "\\":  # JSON doubles each, and JSON inside JSON once more
        return rf"(?:\\{{{count},{8 * count}}}|(?:{'|'.join(others)}){{{count}}})"
    return f"(?:{'|'.join([plain, *others])})"


def sent_secrets() -> tuple[str, ...]:
    """Return the tokens, keys and logins of proxies that the environment has."""
    found: list[str] = []
    for name, value in os.environ.items():
        if _SENT.fullmatch(name) or name.endswith("_API_KEY"):
            found.append(value.strip())
        elif name.lower().endswith("_proxy") and "@" in value:
            login = unquote(value.rpartition("@")[0].rpartition("://")[2])
            found += [login, login.partition(":")[2], b64encode(login.encode()).decode()]
    # the longest first: a login holds its password
    return tuple(sorted(filter(is_secret, set(found)), key=lambda one: (-len(one), one)))


def hide_sent(text: str) -> str:
    """Return a text without the secrets of the environment that a server may have repeated."""
    for secret in sent_secrets():
        text = hide_key(text, secret, "[hidden]")
    return text
