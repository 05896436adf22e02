"""The cache keeps what it acknowledged, whatever happens to the process or the file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sayso.records import Alternative, Generation, InputError, ask, content_hash
from sayso.storage import cache
from sayso.storage.cache import (
    Cache,
    ReplyOrigin,
    StoredReply,
    checksum,
    decode_reply,
    default_cache_folder,
    encode_reply,
    merge_replies,
)

REQUEST = ask("When was Ada Lovelace born?")
REPLY = Generation(
    request=REQUEST,
    id="g1",
    question="q1",
    stage="probe",
    form="short",
    method="plain",
    instructed=True,
    text="In 1815.",
    token_ids=(5, 7, 9),
    logprobs=(-0.1, -0.25, -1e-9),
    alternatives=((Alternative(5, -0.1),), (), (Alternative(9, -2.0), Alternative(1, -3.0))),
    finish="stop",
)


def key(name: object) -> bytes:
    return content_hash(str(name))


def file_of(folder: Path) -> Path:
    return folder / "replies.sqlite"


def filled(folder: Path, count: int) -> list[bytes]:
    """Make a cache of ``count`` replies, each with its own text, and return the keys."""
    keys = [key(i) for i in range(count)]
    with Cache(folder, batch=10**6, pause=1e9) as cache:
        for i, one in enumerate(keys):
            cache.put(one, replace(REPLY, text=f"answer {i} " + "x" * (i % 50)))
    return keys


def test_a_reply_comes_back_whole_but_for_what_a_run_adds(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put(key(1), REPLY)
    with Cache(tmp_path) as cache:
        bare = cache.get_many([key(1), key(2)])
        bound = cache.get_many({key(1): REQUEST})
    assert list(bare) == [key(1)]
    assert bare[key(1)].request.messages == ()
    assert bound[key(1)] == replace(
        REPLY, id="", question="", stage="", form="", method="", instructed=False
    )


def test_messages_are_not_stored_twice(tmp_path: Path) -> None:
    secret = "a very particular question"
    assert secret.encode() in msgspec.json.encode(replace(REPLY, request=ask(secret)))
    with Cache(tmp_path) as cache:
        cache.put(key(1), replace(REPLY, request=ask(secret)))
        reply = cache.get_many([key(1)])[key(1)]
    assert secret not in repr(reply)


def test_replies_wait_for_a_commit_and_are_seen_by_their_own_process(tmp_path: Path) -> None:
    with Cache(tmp_path, batch=3, pause=1e9) as cache, Cache(tmp_path) as other:
        cache.put(key(1), REPLY)
        cache.put(key(2), REPLY)
        assert len(cache.get_many([key(1), key(2)])) == 2
        assert other.get_many([key(1), key(2)]) == {}
        cache.put(key(3), REPLY)  # the third fills the batch
        assert len(other.get_many([key(1), key(2), key(3)])) == 3
        cache.put(key(4), REPLY)
        cache.commit()
        assert list(other.get_many([key(4)])) == [key(4)]


def test_a_slow_model_s_replies_are_committed_one_by_one(tmp_path: Path) -> None:
    with Cache(tmp_path, pause=0) as cache, Cache(tmp_path) as other:
        cache.put(key(1), REPLY)
        assert list(other.get_many([key(1)])) == [key(1)]


def test_a_reply_is_committed_although_none_follows(tmp_path: Path) -> None:
    with Cache(tmp_path, pause=0.05) as cache, Cache(tmp_path) as other:
        cache.put(key(1), REPLY)
        until = time.monotonic() + 20
        while not other.get_many([key(1)]):
            assert time.monotonic() < until
            time.sleep(0.01)
        cache.put(key(2), REPLY)  # the timer starts anew
        while not other.get_many([key(2)]):
            assert time.monotonic() < until
            time.sleep(0.01)


def test_what_goes_wrong_between_two_replies_is_raised_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path, pause=0.01)

    def full(*_: object) -> None:
        raise InputError("disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(cache, "_write", full)
        cache.put(key(1), REPLY)
        until = time.monotonic() + 20
        while cache._late is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        with pytest.raises(InputError, match="disk is full"):
            cache.put(key(2), REPLY)
    cache.close()  # there is space again: nothing was lost
    with Cache(tmp_path) as again:
        assert len(again.get_many([key(1), key(2)])) == 2


def test_replies_put_together_are_committed_together(tmp_path: Path) -> None:
    with Cache(tmp_path, batch=3, pause=1e9) as cache, Cache(tmp_path) as other:
        cache.put(key(0), REPLY)
        cache.put_together({key(i): REPLY for i in range(1, 6)})
        assert len(other.get_many([key(i) for i in range(6)])) == 6


def test_many_keys_are_read_in_order(tmp_path: Path) -> None:
    keys = filled(tmp_path, 1203)  # more than two queries' worth
    with Cache(tmp_path) as cache:
        assert list(cache.get_many(reversed(keys))) == keys[::-1]


def test_a_failed_request_is_asked_again_but_a_truncated_thought_is_a_reply(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        for problem in ("failed", "context", "timeout"):
            cache.put(key(problem), replace(REPLY, text="", problem=problem))
        cache.put(key("truncated"), replace(REPLY, text="", problem="truncated"))
        cache.commit()
        names = ["failed", "context", "timeout", "truncated"]
        assert list(cache.get_many([key(name) for name in names])) == [key("truncated")]


ENTROPIES = (0.5, 0.6, 0.7)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        # same tokens, one more array: both together
        (
            replace(REPLY, logprobs=None, alternatives=None, entropies=ENTROPIES),
            replace(REPLY, entropies=ENTROPIES),
        ),
        # fewer arrays, or another wording with the same arrays: the old one stays
        (replace(REPLY, alternatives=None), None),
        (replace(REPLY, text="1815", token_ids=(8, 8, 8)), None),
        # another wording with all of the old arrays and more: the new one
        (
            replace(REPLY, text="1815", token_ids=(8, 8, 8), entropies=ENTROPIES),
            replace(REPLY, text="1815", token_ids=(8, 8, 8), entropies=ENTROPIES),
        ),
        # another wording with other arrays: mixing them would describe no answer at all
        (replace(REPLY, text="1815", token_ids=(8,), logprobs=None, entropies=(1.0,)), None),
        # a reply with a problem never replaces one without
        (replace(REPLY, problem="truncated", entropies=ENTROPIES), None),
    ],
)
@pytest.mark.parametrize("committed", [True, False])
def test_an_existing_reply_changes_only_for_more_arrays(
    new: Generation, expected: Generation | None, tmp_path: Path, committed: bool
) -> None:
    assert merge_replies(REPLY, new) == expected
    with Cache(tmp_path) as cache:
        cache.put(key(1), REPLY)
        if committed:
            cache.commit()
        cache.put(key(1), new)
        cache.commit()
        assert cache.get_many({key(1): REQUEST})[key(1)] == replace(
            expected or REPLY, id="", question="", stage="", form="", method="", instructed=False
        )


def test_merging_keeps_the_tokens_of_text_without_ids() -> None:
    bare = Generation(request=REQUEST, text="yes")
    assert merge_replies(bare, replace(bare, token_ids=(1,), logprobs=(-1.0,))) is not None
    assert merge_replies(replace(bare, problem="truncated"), bare) == bare


@given(
    text=st.text(st.characters(codec=None)),
    floats=st.lists(st.floats()),
    thinking=st.none() | st.text(),
)
def test_any_reply_is_stored_exactly(text: str, floats: list[float], thinking: str | None) -> None:
    # st.characters without a codec includes lone surrogates
    reply = Generation(
        request=REQUEST,
        text=text,
        thinking=thinking,
        logprobs=tuple(floats),
        alternatives=(tuple(Alternative(1, value) for value in floats),),
    )
    assert repr(decode_reply(encode_reply(reply))) == repr(reply)


@given(st.binary())
def test_decoding_any_bytes_gives_a_reply_or_nothing(data: bytes) -> None:
    assert decode_reply(data) is None


def test_only_its_owner_can_read_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    with Cache(folder) as cache:
        cache.put(key(1), REPLY)
        cache.commit()
        for file in folder.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_or_a_folder_may_be_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "replies.sqlite", str(tmp_path)):
        with Cache(path) as cache:
            assert cache.path == tmp_path / "replies.sqlite"


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAYSO_CACHE", "~/somewhere")
    assert default_cache_folder() == Path.home() / "somewhere"
    monkeypatch.delenv("SAYSO_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "sayso"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the XDG specification
    assert default_cache_folder() == Path.home() / ".cache" / "sayso"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_cache_folder() == Path.home() / "Library" / "Caches" / "sayso"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert default_cache_folder() == tmp_path / "sayso"


def test_closing_twice_and_using_it_afterwards(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.close()
    cache.close()
    with pytest.raises(ValueError, match="closed"):
        cache.get_many([key(1)])


def test_an_exception_keeps_what_was_answered_before_it(tmp_path: Path) -> None:
    def interrupted() -> None:
        with Cache(tmp_path, pause=1e9) as cache:
            cache.put(key(1), REPLY)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with Cache(tmp_path) as cache:
        assert list(cache.get_many([key(1)])) == [key(1)]


# --- several processes -----------------------------------------------------------------------

WRITER = """
import os, sys
from pathlib import Path
from sayso.storage.cache import Cache
from sayso.records import Generation, ask, content_hash
name = sys.argv[2]
reply = Generation(request=ask("?"), logprobs=(-1.0,) * 20)
cache = Cache(Path(sys.argv[1]), batch=10**9, pause=1e9)
for i in range(10**9):
    cache.put(content_hash(f"{name} {i}"), Generation(request=ask("?"), text=f"{name} {i}"))
    if i % 7 == 6:
        cache.commit()
        os.write(1, b"%d\\n" % i)  # acknowledged up to here
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_no_acknowledged_reply_is_lost_when_four_writers_are_killed(tmp_path: Path) -> None:
    acknowledged = dict.fromkeys(range(4), -1)
    for turn in range(2):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), f"{turn}-{i}"],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            for i in range(4)
        ]
        for i, writer in enumerate(writers):  # each is in full swing when it is killed
            assert writer.stdout is not None
            for _ in range(2 + i):
                writer.stdout.readline()
        for writer in writers:
            writer.kill()
        for i, writer in enumerate(writers):
            rest = writer.communicate()[0].splitlines()
            acknowledged[i] = int(rest[-1]) if rest else 6 + 7 * (1 + i)
        with Cache(tmp_path) as cache:
            for i, last in acknowledged.items():
                texts = {key_of: f"{turn}-{i} {n}" for n, key_of in _keys(f"{turn}-{i}", last)}
                found = cache.get_many(texts)
                assert {k: g.text for k, g in found.items()} == texts
            assert cache.notices == []
    with sqlite3.connect(file_of(tmp_path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _keys(name: str, last: int) -> list[tuple[int, bytes]]:
    return [(n, content_hash(f"{name} {n}")) for n in range(last + 1)]


def test_a_cache_that_stays_locked_is_one_line(tmp_path: Path) -> None:
    with Cache(tmp_path, wait=0.1, pause=1e9) as cache:
        other = sqlite3.connect(file_of(tmp_path), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        cache.put(key(1), REPLY)
        with pytest.raises(InputError, match=r"stayed locked by another process for 0\.1 s"):
            cache.commit()
        other.execute("ROLLBACK")
        other.close()
    with Cache(tmp_path) as cache:  # nothing was lost: it was written at the end
        assert list(cache.get_many([key(1)])) == [key(1)]


def test_a_file_deleted_under_us_is_made_anew(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        file_of(tmp_path).unlink()
        cache.put(key(1), REPLY)
    with Cache(tmp_path) as cache:
        assert list(cache.get_many([key(1)])) == [key(1)]


# --- damage ----------------------------------------------------------------------------------


def test_a_damaged_row_is_absent_counted_and_asked_again(tmp_path: Path) -> None:
    keys = filled(tmp_path, 5)
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute("UPDATE replies SET reply = x'00' || substr(reply, 2) WHERE id = 2")
        db.execute("UPDATE replies SET crc = 'nonsense' WHERE id = 4")
    db.close()
    with Cache(tmp_path) as cache:
        assert list(cache.get_many(keys)) == [keys[0], keys[2], keys[4]]
        assert cache.damaged_rows == 2
        assert cache.notices == [
            f"damaged replies in the cache {cache.path}, asked again: 2",
        ]
        cache.put(keys[1], REPLY)
    with Cache(tmp_path) as cache:
        assert list(cache.get_many(keys)) == [keys[0], keys[1], keys[2], keys[4]]


def test_a_cache_with_a_broken_head_is_kept_aside(tmp_path: Path) -> None:
    keys = filled(tmp_path, 300)
    with file_of(tmp_path).open("r+b") as file:
        file.write(b"\xff" * 4096)
    before = file_of(tmp_path).read_bytes()
    with Cache(tmp_path) as cache:
        assert cache.get_many(keys) == {}
        (notice,) = cache.notices
    assert "0 replies were salvaged" in notice
    assert "replies.sqlite.damaged-1" in notice
    assert (tmp_path / "replies.sqlite.damaged-1").read_bytes() == before
    assert stat.S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600
    left = {"replies.sqlite", "replies.sqlite.lock", "replies.sqlite.damaged-1"}
    assert {file.name for file in tmp_path.iterdir()} == left


def test_damage_in_the_middle_costs_only_its_own_page(tmp_path: Path) -> None:
    keys = filled(tmp_path, 2000)
    size = file_of(tmp_path).stat().st_size
    with file_of(tmp_path).open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(os.urandom(4096))
    with Cache(tmp_path) as cache:
        found = cache.get_many(keys)
        cache.put(key("new"), REPLY)
    # A page of 4,096 bytes holds at most 40 rows of 100 bytes or more, a page of the index about
    # 100 keys. Were it an index page, no row would be lost.
    assert len(found) >= 2000 - 110
    assert len(cache.notices) == 1


def patched(folder: Path, before: bytes, after: bytes) -> None:
    """Write bytes in the place of others that the file of a cache has once."""
    data = file_of(folder).read_bytes()
    assert data.count(before) == 1
    file_of(folder).write_bytes(data.replace(before, after))


def test_no_reply_is_written_into_the_row_of_another_key(tmp_path: Path) -> None:
    keys = filled(tmp_path, 5)
    # the entry of the third key in the index leads to the fifth row instead
    patched(tmp_path, keys[2] + b"\x03", keys[2] + b"\x05")
    with Cache(tmp_path) as cache:
        found = cache.get_many(keys)
        assert [found[one].text[:8] for one in keys] == [f"answer {i}" for i in range(5)]
        (notice,) = cache.notices
        assert "5 replies were salvaged" in notice
    shutil.rmtree(tmp_path)
    filled(tmp_path, 5)
    with file_of(tmp_path).open("r+b") as file:  # the reply that is to be put again is lost, too
        data = file.read()
        file.seek(data.index(b"answer 2"))
        file.write(b"anSWer 2")
    patched(tmp_path, keys[2] + b"\x03", keys[2] + b"\x05")
    for _ in range(2):
        with Cache(tmp_path) as cache:
            for one in keys:
                if one not in cache.get_many([one]):
                    cache.put(one, REPLY)
    with Cache(tmp_path) as cache:
        found = cache.get_many(keys)
    texts = [REPLY.text if i == 2 else f"answer {i} " + "x" * i for i in range(5)]
    assert [found[one].text for one in keys] == texts


def test_of_two_rows_with_one_key_the_later_reply_is_salvaged(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        for i in range(5):
            cache.put(key(i), replace(REPLY, text="first"), ReplyOrigin(1.0))
    # the index hides the third row, and the same question is asked again
    patched(tmp_path, key(2) + b"\x03", key(2)[:-1] + bytes([key(2)[-1] ^ 1]) + b"\x03")
    with Cache(tmp_path) as cache:
        assert cache.get_many([key(2)]) == {}
        cache.put(key(2), replace(REPLY, text="second"), ReplyOrigin(2.0))
    patched(tmp_path, key(3) + b"\x04", key(3) + b"\x05")
    with Cache(tmp_path) as cache:
        found = cache.get_many([key(i) for i in range(5)])
        assert "5 replies were salvaged" in cache.notices[0]
    assert [found[key(i)].text for i in range(5)] == ["first", "first", "second", "first", "first"]


def test_a_text_file_in_its_place_is_kept_aside(tmp_path: Path) -> None:
    file_of(tmp_path).write_text("hello " * 1000)
    with Cache(tmp_path) as cache:
        cache.put(key(1), REPLY)
        assert "0 replies were salvaged" in cache.notices[0]
    assert (tmp_path / "replies.sqlite.damaged-1").read_text() == "hello " * 1000


def test_damage_while_another_process_reads_is_not_repaired_under_it(tmp_path: Path) -> None:
    filled(tmp_path, 10)
    with Cache(tmp_path) as reader:
        with file_of(tmp_path).open("r+b") as file:
            file.write(b"\x00" * 4096)
        with pytest.raises(InputError, match="locked by another process"):
            Cache(tmp_path, wait=0.1)
        assert reader.notices == []
    with Cache(tmp_path) as cache:
        assert "salvaged" in cache.notices[0]


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    filled(folder, 120)
    return file_of(folder).read_bytes()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    patches=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=300)), max_size=6),
    head=st.none() | st.tuples(st.integers(0, 4095), st.binary(min_size=1, max_size=60)),
    cut=st.none() | st.floats(0, 1),
)
def test_random_damage_loses_nothing_that_is_put_again(
    sound_file: bytes,
    patches: list[tuple[float, bytes]],
    head: tuple[int, bytes] | None,
    cut: float | None,
) -> None:
    data = bytearray(sound_file)
    size = len(data)
    for place, noise in [(int(p * (size - 300)), b) for p, b in patches] + [head] * bool(head):
        data[place : place + len(noise)] = noise
    if cut is not None:
        del data[int(cut * size) :]
    texts = {key(i): f"answer {i} " + "x" * (i % 50) for i in range(140)}
    with tempfile.TemporaryDirectory() as folder:
        file_of(Path(folder)).write_bytes(data)
        with contextlib.suppress(InputError):  # the head may now say that it is a newer file
            with Cache(Path(folder), wait=1) as cache:
                found = cache.get_many(texts)
                assert {one: reply.text for one, reply in found.items()}.items() <= texts.items()
                for one in texts.keys() - found.keys():
                    cache.put(one, replace(REPLY, text=texts[one]))
            with Cache(Path(folder), wait=1) as cache:
                found = cache.get_many(texts)
            assert {one: reply.text for one, reply in found.items()} == texts


# --- places that cannot be used --------------------------------------------------------------


def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    keys = filled(tmp_path, 20)
    cache = Cache(tmp_path, batch=10**6, pause=1e9)
    assert cache._db is not None
    pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
    cache._db.execute(f"PRAGMA max_page_count={pages}")
    for i in range(200):
        cache.put(key(("more", i)), replace(REPLY, text=os.urandom(2000).hex()))
    with pytest.raises(InputError, match=r"disk is full while writing .*replies\.sqlite"):
        cache.close()
    with Cache(tmp_path) as cache:
        assert len(cache.get_many(keys)) == 20


def test_a_cache_of_the_first_format_is_read_and_no_earlier_version_takes_it_again(
    tmp_path: Path,
) -> None:
    keys = filled(tmp_path, 3)
    with sqlite3.connect(file_of(tmp_path)) as db:
        for one, data in db.execute("SELECT key, reply FROM replies").fetchall():
            # as the first format wrote it
            old = zlib.compress(msgspec.json.encode(decode_reply(data)), 1)
            db.execute(
                "UPDATE replies SET crc = ?, reply = ? WHERE key = ?",
                (checksum(one, old), old, one),
            )
        db.execute("PRAGMA user_version = 1")
    db.close()
    with Cache(tmp_path) as cache:
        replies = cache.get_many(dict.fromkeys(keys, REQUEST))
        assert cache.origins(keys) == dict.fromkeys(keys)  # nobody knows when they were given
        cache.put(key("new"), REPLY)
    assert [replies[one].text for one in keys] == ["answer 0 ", "answer 1 x", "answer 2 xx"]
    assert replies[keys[0]].alternatives == REPLY.alternatives
    with contextlib.closing(sqlite3.connect(file_of(tmp_path))) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
    with Cache(tmp_path) as cache:
        assert len(cache.get_many([*keys, key("new")])) == 4
        assert cache.notices == []


EARLY, LATE = ReplyOrigin(1_000, "http://a/v1"), ReplyOrigin(2_000, "http://b/v1")


def test_a_reply_knows_when_it_was_given_and_by_whom(tmp_path: Path) -> None:
    keys = [key(i) for i in range(3)]
    with Cache(tmp_path, pause=1e9) as cache:
        cache.put(keys[0], REPLY, EARLY)
        assert cache.origins(keys) == {keys[0]: EARLY}  # not written yet
        cache.put(keys[1], REPLY)
        cache.put(keys[2], replace(REPLY, text="x" * 9000), LATE)  # compressed
    with Cache(tmp_path) as cache:
        assert cache.origins(keys) == dict(zip(keys, (EARLY, None, LATE), strict=True))
        stored = cache.get_stored(keys)
        assert [stored[one].origin for one in keys] == [EARLY, None, LATE]
        assert stored[keys[2]].reply.text == "x" * 9000
        # the same tokens with more arrays: the text is as old as it was
        cache.put(keys[0], replace(REPLY, entropies=(0.1, 0.2, 0.3)), LATE)
        cache.commit()
        assert cache.get_stored(keys)[keys[0]].origin == EARLY
        assert cache.get_stored(keys)[keys[0]].reply.entropies is not None
        assert cache.notices == []


@pytest.mark.parametrize("since", [None, 1_000, 1_001])
@pytest.mark.parametrize("known", [EARLY, None])
def test_only_what_is_older_is_set_aside_for_a_fresh_reply(
    tmp_path: Path, since: int | None, known: ReplyOrigin | None
) -> None:
    new = replace(REPLY, text="In 1816.", token_ids=(5, 8, 9))
    with Cache(tmp_path) as cache:
        cache.put(key(1), REPLY, known)
    with Cache(tmp_path) as cache:
        cache.put_together({key(1): new}, LATE, since)
    old = since is not None and (known is None or since > 1_000)
    with Cache(tmp_path) as cache:
        (now,) = cache.get_stored([key(1)]).values()
        assert (now.reply.text, now.origin) == (("In 1816.", LATE) if old else ("In 1815.", known))
        kept = [(one.reply.text, one.origin) for one in cache.aside(key(1))]
        assert kept == ([("In 1815.", known)] if old else [])
        assert cache.aside(key(2)) == []


def test_every_reply_that_was_set_aside_can_be_read_again(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        for number in range(4):
            reply = replace(REPLY, text=f"answer {number}")
            cache.put_together({key(1): reply}, ReplyOrigin(number, "a"), number)
        cache.set_aside(key(1), replace(REPLY, text="asked again"), ReplyOrigin(9, "a"))
        cache.set_aside(key(1), replace(REPLY, text="", problem="failed: no"), ReplyOrigin(9, "a"))
        texts = [one.reply.text for one in cache.aside(key(1))]
        assert texts == ["answer 0", "answer 1", "answer 2", "asked again"]
        assert cache.get_many([key(1)])[key(1)].text == "answer 3"


def test_a_strange_origin_is_none() -> None:
    data = encode_reply(REPLY, ReplyOrigin(1, "é" * 400))
    assert cache.reply_origin(data) == ReplyOrigin(1, "?" * 200)
    assert decode_reply(data) == REPLY
    assert cache.reply_origin(b"@") is None
    assert cache.reply_origin(b"@\x02\xc1\xc1rest") is None
    assert decode_reply(b"@") is None
    assert StoredReply(REPLY).before(5)
    assert not StoredReply(REPLY, EARLY).before(None)


def test_a_long_reply_is_compressed_and_a_short_one_is_not() -> None:
    short, long = replace(REPLY, text="yes"), replace(REPLY, text="a long thought. " * 2000)
    assert encode_reply(short) == msgspec.msgpack.encode(short)
    assert len(encode_reply(long)) < 2000
    assert decode_reply(encode_reply(long)) == long


def test_a_number_that_messagepack_cannot_hold_is_kept() -> None:
    reply = replace(REPLY, thinking_tokens=2**70, thinking="\ud800")
    assert decode_reply(encode_reply(reply)) == reply


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InputError, match=r"written by a newer sayso \(format 99"):
        Cache(tmp_path)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    db.close()
    before = file_of(tmp_path).read_bytes()
    with pytest.raises(InputError, match="another program"):
        Cache(tmp_path)
    assert file_of(tmp_path).read_bytes() == before


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot use the cache"):
        Cache(tmp_path / "file" / "cache")


def test_a_read_only_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(cache.os, "open", refuse)
    with pytest.raises(
        InputError, match="Permission denied; choose another folder with --set cache="
    ):
        Cache(tmp_path)


def test_a_network_file_system_gets_the_safer_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = filled(tmp_path, 3)  # made with a write-ahead log
    monkeypatch.setattr("sayso.storage.cache.file_system", lambda path: "nfs4")
    with Cache(tmp_path, pause=0) as cache:
        cache.put(key("new"), REPLY)
        assert "network file system (nfs4)" in cache.notices[0]
        assert not (tmp_path / "replies.sqlite-wal").exists()
        assert len(cache.get_many([*keys, key("new")])) == 4


def test_the_file_system_of_a_path(tmp_path: Path) -> None:
    kind = cache.file_system(tmp_path)
    assert kind not in cache.NETWORK
    if Path("/proc/self").exists():
        assert cache.file_system(Path("/proc/self/status")) == "proc"
