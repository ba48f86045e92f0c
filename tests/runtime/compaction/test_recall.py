"""What of the remembered facts goes into a prompt."""

from hypothesis import given
from hypothesis import strategies as st

from repertory.runtime.compaction.facts import Fact, is_grounded, same_fact
from repertory.runtime.compaction.recall import MAX_MEMORY_CHARS, recall, remembered_text


def fact(text: str, number: int = 1, *, lasting: bool = False) -> Fact:
    return Fact(text=text, message=f"m{number}", date="2026-12-01", lasting=lasting)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=200), st.booleans()), max_size=80), st.integers(0, 3000))
def test_the_memory_keeps_its_bound(texts: list[tuple[str, bool]], limit: int) -> None:
    facts = [fact(text, number, lasting=lasting) for number, (text, lasting) in enumerate(texts)]
    assert len(remembered_text(facts, limit)) <= limit
    assert len(remembered_text(facts)) <= MAX_MEMORY_CHARS


def test_of_two_that_say_the_same_the_newer_stands_and_counts_twice() -> None:
    facts = [fact("works nights at the harbour", 1), *(fact(f"ate dish number {n}", n) for n in range(2, 60))]
    facts.append(fact("works nights at the old harbour", 60))
    memory = remembered_text(facts, 200)
    assert "(m60): works nights at the old harbour" in memory
    assert "(m1)" not in memory


def test_what_lasts_stays_when_there_is_much() -> None:
    facts = [fact("is allergic to nuts", 1, lasting=True), *(fact(f"ate dish number {n}", n) for n in range(2, 90))]
    assert remembered_text(facts, 300).startswith("- 2026-12-01 (m1): is allergic to nuts")


def test_a_message_calls_back_what_shares_its_rare_words() -> None:
    facts = [fact(f"went running in week {n}", n) for n in range(1, 40)]
    facts.insert(7, fact("the piano teacher is called Ingrid", 99))
    assert recall(facts, "I saw Ingrid after my lesson") == "- 2026-12-01 (m99): the piano teacher is called Ingrid"
    assert recall(facts, "I went running") == ""
    assert recall(facts, "I saw Ingrid", memory="the piano teacher is called Ingrid") == ""


def test_a_fact_rests_on_its_message() -> None:
    assert is_grounded("sister Mia lives in Lisbon", "My sister Mia lives in Lisbon now.")
    assert not is_grounded("brother is a surgeon in Oslo", "My sister Mia lives in Lisbon now.")
    assert not is_grounded("", "anything")
    assert is_grounded("我想每天写作", "我想每天写作")
    assert not same_fact("", "")
