"""Versions, their states and their history; several writers at once; content that was changed behind our back."""

import hashlib
import threading

import pytest
from sqlalchemy import text
from tests.registry.packages import edition, package

from repertory.errors import PackageError, RegistryError, UsageError
from repertory.registry.registry import Registry, parse_label
from repertory.storage.store import Store


def states(registry: Registry) -> dict[str, str]:
    return {version.label: version.state for version in registry.versions("counter")}


def test_the_life_of_an_agent(registry: Registry) -> None:
    for number in (1, 2, 3):
        assert registry.deploy(edition(number)).version.label == f"counter@{number}"
    with pytest.raises(RegistryError, match="no version of counter is live"):
        registry.resolve("counter")
    registry.promote("counter", 1)
    registry.promote("counter", 2, "canary")
    assert states(registry) == {"counter@3": "draft", "counter@2": "canary", "counter@1": "live"}
    assert registry.resolve("counter").version == 1
    registry.promote("counter", 2)
    registry.promote("counter", 3)
    assert states(registry) == {"counter@3": "live", "counter@2": "retired", "counter@1": "retired"}
    assert registry.roll_back("counter").version == 2
    assert registry.roll_back("counter").version == 1
    assert states(registry) == {"counter@3": "retired", "counter@2": "retired", "counter@1": "live"}
    with pytest.raises(UsageError, match="no earlier version"):
        registry.roll_back("counter")
    registry.retire("counter", 1)
    with pytest.raises(RegistryError, match="no version"):
        registry.resolve("counter")
    assert registry.roll_back("counter").version == 3
    events = [(event.version, event.what) for event in registry.history("counter")]
    assert events == [
        (1, "deployed"), (2, "deployed"), (3, "deployed"), (1, "promoted"), (2, "promoted"), (2, "promoted"),
        (3, "promoted"), (2, "rolled_back"), (1, "rolled_back"), (1, "retired"), (3, "rolled_back"),
    ]  # fmt: skip
    assert [event.number for event in registry.history("counter")] == list(range(1, 12))


def test_a_canary_makes_room_for_the_next(registry: Registry) -> None:
    for number in (1, 2):
        registry.deploy(edition(number))
        registry.promote("counter", number, "canary")
    assert states(registry) == {"counter@2": "canary", "counter@1": "draft"}


def test_the_same_content_is_one_version(registry: Registry) -> None:
    first = registry.deploy(package())
    assert registry.deploy(package()) == (first.version, False)
    assert len(registry.history("counter")) == 1


def test_what_is_removed_is_gone_and_its_numbers_stay_used(registry: Registry, store: Store) -> None:
    for number in (1, 2):
        registry.deploy(edition(number))
    registry.state_folder("counter").mkdir(parents=True)
    assert registry.remove("counter") == [2, 1]
    assert registry.names() == []
    assert not registry.state_folder("counter").exists()
    with store._database.read() as transaction:
        assert transaction.execute(text("select count(*) from agent_files")).scalar() == 0
    with pytest.raises(UsageError):
        registry.remove("counter")
    assert registry.deploy(edition(1)).version.label == "counter@3"
    assert [event.what for event in registry.history("counter")] == ["deployed", "deployed", "removed", "deployed"]


def test_files_that_two_versions_share_are_kept_once(registry: Registry, store: Store) -> None:
    for number in (1, 2):
        registry.deploy(edition(number))
    with store._database.read() as transaction:
        assert transaction.execute(text("select count(*) from agent_files")).scalar() == len(package()) + 1


def test_unknown_names_and_versions_are_bad_usage(registry: Registry) -> None:
    registry.deploy(package())
    for attempt in (
        lambda: registry.resolve("countr"),
        lambda: registry.promote("countr", 1),
        lambda: registry.history("countr"),
        lambda: registry.remove("countr"),
    ):
        with pytest.raises(UsageError, match="countr") as refusal:
            attempt()
        assert refusal.value.hint == "did you mean counter?"
    with pytest.raises(UsageError, match="counter@9"):
        registry.promote("counter", 9)
    with pytest.raises(UsageError, match="counter@9"):
        registry.retire("counter", 9)


@pytest.mark.parametrize("label", ["", "Counter", "a b", "a@0", "a@x", "a@1@2", "../x", "a" * 80, "a@-1"])
def test_what_is_no_label_is_bad_usage(label: str) -> None:
    with pytest.raises(UsageError, match="not an agent"):
        parse_label(label)


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("update agent_files set content = x'00' where digest = :tools", "counter@1/tools.py"),
        ("update agent_version_files set path = 'other.py' where path = 'tools.py'", "counter@1"),
        ("delete from agent_version_files where path = 'SKILL.md'", "counter@1"),
        ("update agent_versions set digest = :tools", "counter@1"),
        ("update agent_versions set signature = 'AAAA'", None),
        ("update agent_versions set public_key = 'AAAA'", "counter@1"),
    ],
)
def test_what_was_changed_in_the_database_is_refused(
    registry: Registry, store: Store, statement: str, where: str | None
) -> None:
    version = registry.deploy(package()).version
    with store._database.write() as transaction:
        values = {"tools": hashlib.sha256(package()["tools.py"]).hexdigest()} if ":tools" in statement else {}
        transaction.execute(text(statement), values)
    with pytest.raises(PackageError) as refusal:
        registry.load(registry.resolve("counter", version.version))
    assert refusal.value.where == where
    with pytest.raises(PackageError):
        registry.promote("counter", 1)
    assert states(registry) == {"counter@1": "draft"}


def test_many_deploy_and_promote_at_once(registry: Registry, store: Store) -> None:
    failures: list[BaseException] = []

    def deploy(number: int) -> None:
        try:
            for one in (number, number + 1):
                version = registry.deploy(edition(one)).version
                registry.promote("counter", version.version)
        except BaseException as error:  # noqa: BLE001 - told by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=deploy, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    versions = registry.versions("counter")
    assert [version.version for version in versions] == list(range(9, 0, -1))
    assert [version.state for version in versions].count("live") == 1
    assert len({version.digest for version in versions}) == 9
    for version in versions:
        assert registry.load(version).version == version
