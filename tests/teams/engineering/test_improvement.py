"""Better versions of agents that are there: the contract stays, old tests are kept, repairs are carried out."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.registry.temperature import temperature
from tests.teams.engineering.test_runner import ANSWERS, CODE, CONTRACT, Maker

from repertory.errors import UsageError
from repertory.home import Home
from repertory.registry.registry import Loaded, Registry
from repertory.storage.store import Store
from repertory.teams.engineering.contract_text import read_contract
from repertory.teams.engineering.improvement import Improvement, repair_wish
from repertory.teams.engineering.reuse import find_similar

pytestmark = pytest.mark.anyio

OTHER = CODE.replace("return n * 2", "return n + n")
WRONG = "```python\ndef double(n):\n    if not 0 <= n <= 100:\n        raise ValueError('no')\n    return n * 3\n```"
WRONG_TESTS = "```python\nassert double(3) == 9\nassert double(5) == 15\nassert double(7) == 21\n```"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, tmp_path / "models")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store.open(home.root / "test.sqlite") as opened:
        yield opened


def live(registry: Registry, name: str = "double") -> Loaded:
    return registry.load(registry.resolve(name))


async def test_the_next_version_keeps_name_contract_and_tests(store: Store, home: Home) -> None:
    await Maker(store, home).build()
    maker = Maker(store, home, {"builder": OTHER, "tester": "```python\nassert double(9) == 18\n```"})
    improves = Improvement.of(live(maker.registry))
    assert {"double(2) == 4", "double(50) == 100"} <= {case.text for case in improves.tests}
    result = await maker.runner.run("Use addition.", user="me", improves=improves)
    assert (result.status, result.agent) == ("built", "double@2")
    package = live(maker.registry).package
    assert package.evidence["built_by"]["improves"] == "double@1"
    assert b"assert double(2) == 4" in package.files["tests/test_tools.py"]
    assert b"assert double(9) == 18" in package.files["tests/test_tools.py"]
    assert "What must be better: Use addition." in package.evidence["request"]
    assert any("What must be better" in str(request.messages) for request in maker.model.requests)


async def test_a_version_that_loses_an_old_test_is_not_released(store: Store, home: Home) -> None:
    await Maker(store, home).build()
    maker = Maker(store, home, {"builder": WRONG, "tester": WRONG_TESTS})
    result = await maker.runner.run("Triple it.", user="me", improves=Improvement.of(live(maker.registry)))
    assert result.status == "not_built"
    assert maker.registry.resolve("double").version == 1


async def test_an_improvement_that_was_cut_off_goes_on_as_one(store: Store, home: Home) -> None:
    class CutOffError(BaseException):
        pass

    await Maker(store, home).build()
    maker = Maker(store, home, {"builder": OTHER, "critic": CutOffError()})
    with pytest.raises(CutOffError):
        await maker.runner.run("Use addition.", user="me", improves=Improvement.of(live(maker.registry)))
    [turn] = store.taking_up.resumable("engineering", "me")
    maker.answers["critic"] = ANSWERS["critic"]
    with pytest.raises(UsageError, match="can not be read here"):
        await maker.runner.resume(turn.id)
    maker.runner.improvement_of = lambda _: Improvement.of(live(maker.registry))
    [turn] = store.taking_up.resumable("engineering", "me")
    result = await maker.runner.resume(turn.id)
    assert (result.status, result.agent) == ("built", "double@2")


async def test_an_agent_without_a_contract_can_not_be_improved(store: Store, home: Home) -> None:
    registry = Registry(store, home)
    registry.deploy(temperature())
    registry.promote("temperature", 1)
    with pytest.raises(UsageError, match="holds no contract"):
        Improvement.of(live(registry, "temperature"))


def test_what_a_repair_asks_for(store: Store, home: Home) -> None:
    registry = Registry(store, home)
    registry.deploy(temperature())
    registry.promote("temperature", 1)
    detail = {"kinds": {"tool c_to_f: ZeroDivisionError": 4}}
    store.agents.take_out("temperature", 1, "4 of the last 4 calls of temperature@1 failed", detail)
    repair = store.agent_watch.take_repair()
    assert repair is not None
    assert repair_wish(repair) == (
        "4 of the last 4 calls of temperature@1 failed. What failed: tool c_to_f: ZeroDivisionError (4 times)."
    )


class TestReuse:
    """Whether an agent serves a request already."""

    @pytest.fixture
    async def agents(self, store: Store, home: Home) -> list[Loaded]:
        maker = Maker(store, home)
        await maker.build("Double a whole number between zero and one hundred.")
        maker.registry.deploy(temperature())
        maker.registry.promote("temperature", 1)
        return [live(maker.registry), live(maker.registry, "temperature")]

    async def test_the_same_request_is_served(self, agents: list[Loaded]) -> None:
        found = find_similar("Double a whole number between zero and one hundred.", None, agents)
        assert found is not None
        assert (found.label, found.serves) == ("double@1", True)
        found = find_similar(
            "Please doubles whole numbers between zero and one hundred", read_contract(CONTRACT), agents
        )
        assert found is not None
        assert found.serves

    async def test_another_contract_is_not_served(self, agents: list[Loaded]) -> None:
        words = "Double a whole number between zero and one hundred."
        for contract in ("tool: double(n: string) -> int", "tool: twice(n: int 0..100) -> int"):
            found = find_similar(words, read_contract(contract), agents)
            assert found is None or not found.serves

    @pytest.mark.parametrize(
        "request_words",
        [
            "Halve a whole number between zero and one hundred and say the rest.",
            "Count the vowels of a text.",
            "Turn blog titles into url slugs.",
            "Double the letters of a text.",
            "Convert temperatures from Kelvin to Rankine, with three decimals.",
            "Say hello.",
            "",
        ],
    )
    async def test_other_requests_are_not(self, agents: list[Loaded], request_words: str) -> None:
        found = find_similar(request_words, None, agents)
        assert found is None or not found.serves
