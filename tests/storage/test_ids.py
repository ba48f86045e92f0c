import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from repertory.errors import UsageError
from repertory.storage.ids import check_id, new_session_id, new_turn_id


def test_turn_ids_are_unique_and_rise() -> None:
    ids = [new_turn_id() for _ in range(2000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"t[0-9a-hjkmnp-tv-z]{26}", one) for one in ids)


def test_turn_ids_of_threads_never_meet() -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = [future.result() for future in [pool.submit(new_turn_id) for _ in range(4000)]]
    assert len(set(ids)) == len(ids)


def test_session_ids_are_short_and_say_their_number() -> None:
    assert re.fullmatch(r"s12-[0-9a-z]{4}", new_session_id(12))


@pytest.mark.parametrize(
    "text", ["a", "Ada Lovelace", "é" * 200, "../../etc/passwd", "'; DROP TABLE turns; --", "👩‍🚀"]
)
def test_any_text_is_an_id(text: str) -> None:
    assert check_id("user", text) == text


@pytest.mark.parametrize("text", ["", "a" * 201, "a\x00b", "\ud800"])
def test_what_is_no_id_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match="the user id"):
        check_id("user", text)
