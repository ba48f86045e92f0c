"""The door to everything that is kept."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from repertory.home import locate_home
from repertory.storage.address import Address, resolve_address
from repertory.storage.agent_watch import AgentWatchLog
from repertory.storage.agents import Agents
from repertory.storage.blackboard import Blackboard
from repertory.storage.commitments import Commitments
from repertory.storage.database import Database
from repertory.storage.forgetting import MakesRedaction, forget_messages
from repertory.storage.ids import check_id
from repertory.storage.keys import Keys
from repertory.storage.logins import Logins
from repertory.storage.messages import Messages
from repertory.storage.personal_data import all_boards, erase_user, export_user, teams_of_user
from repertory.storage.prefix_states import PrefixStates
from repertory.storage.schema import ensure_schema
from repertory.storage.sessions import Sessions
from repertory.storage.steps import Steps
from repertory.storage.summaries import Summaries
from repertory.storage.taking_up import TakingUp
from repertory.storage.turns import Turns
from repertory.storage.user_records import agents_with_records, erase_agent_records, export_agent_records
from repertory.storage.work_folders import erase_work_folders

__all__ = ("Store",)


class Store:
    """A database that is open. All methods block (call them with `asyncio.to_thread`) and may be used by any thread.

    Attributes:
        sessions: Sessions.
        messages: Messages.
        turns: Turns, their events and result documents.
        commitments: Commitments.
        keys: API keys of the HTTP interface.
        logins: Who is signed in to the dashboard.
        steps: What the agents of unfinished turns have done.
        agents: The versions of agent packages.
        agent_watch: How calls of deployed agents ended, and requests for their repair.
        summaries: What is remembered of earlier sessions' talk.
        taking_up: The beginning of turns, and taking them up again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.sessions = Sessions(database)
        self.messages = Messages(database)
        self.turns = Turns(database)
        self.commitments = Commitments(database)
        self.steps = Steps(database)
        self.keys = Keys(database)
        self.logins = Logins(database)
        self.agents = Agents(database)
        self.agent_watch = AgentWatchLog(database)
        self.summaries = Summaries(database)
        self.taking_up = TakingUp(database)

    @classmethod
    def open(cls, address: str | Path | None = None) -> Self:
        """Open the database, creating or upgrading it where needed, and mark the turns that were cut off.

        Args:
            address: A path or a SQLAlchemy URL; None takes `REPERTORY_DATABASE`, else the file in the home folder.

        Raises:
            StorageError: It can not be opened, is damaged, not ours, or newer than this program; it is left as it is.
            UsageError: It is not an address.
        """
        return cls._open(resolve_address(address))

    @classmethod
    def open_existing(cls, address: str | Path | None = None) -> Self | None:
        """Open the database as `open` does, but make no SQLite file where there is none: None then."""
        found = resolve_address(address)
        return None if found.path is not None and not found.path.exists() else cls._open(found)

    @classmethod
    def _open(cls, address: Address) -> Self:
        database = Database(address)
        try:
            ensure_schema(database)
            store = cls(database)
            store.turns.mark_interrupted()
        except BaseException:
            database.close()
            raise
        return store

    @property
    def place(self) -> str:
        """Where the database is, in words and without a password."""
        return self._database.address.place

    def blackboard(self, team: str, user: str) -> Blackboard:
        """The blackboard of a team and user; nothing is created until something is written.

        Raises:
            UsageError: The team's or user's id can not be one.
        """
        return Blackboard(self._database, check_id("team", team), check_id("user", user))

    def boards(self, limit: int = 1000) -> list[tuple[str, str]]:
        """The teams and users that something is kept about, the newest blackboard first."""
        return all_boards(self._database, limit)

    def teams_of_user(self, user: str) -> list[str]:
        """The teams that keep something about a user, sorted."""
        return teams_of_user(self._database, user)

    def agents_of_user(self, user: str) -> list[str]:
        """The deployed agents that keep records about a user, sorted."""
        return agents_with_records(locate_home().agents, user)

    def export(self, user: str, team: str | None = None) -> dict[str, Any]:
        """Everything that is kept about a user, as one JSON document; of one team, or of all teams and deployed agents.

        Raises:
            StorageError: It can not be read.
        """
        document = export_user(self._database, user, team)
        return document if team is not None else document | {"agents": export_agent_records(locate_home().agents, user)}

    def forget(
        self,
        team: str,
        user: str,
        messages: Sequence[str],
        redaction: MakesRedaction,
        at: datetime,
        *,
        must_clean: bool = True,
    ) -> dict[str, int]:
        """Forget single messages of a person and all that was derived from them; see `forget_messages`.

        Computed prompts of theirs that are kept on disk, and working folders of agents that programs ran for them, go
        as a whole: they can not be redacted.
        """
        counts = forget_messages(self._database, team, user, messages, redaction, at, must_clean=must_clean)
        _forget_prefixes(user)
        erase_work_folders(locate_home().harness, user)
        return counts

    def erase(self, user: str, team: str | None = None) -> dict[str, int]:
        """Delete everything that is kept about a user (with one team or all), for good.

        In a SQLite file the bytes are gone too; PostgreSQL frees them when it vacuums. Computed prompts of theirs that
        are kept on disk, working folders of agents that programs ran for them, and what deployed agents keep about
        them, are removed with it, whatever the team.

        Returns:
            How many rows of each kind were deleted.

        Raises:
            StorageError: Some of it can not be deleted now; erasing again makes it good.
        """
        counts = erase_user(self._database, user, team)
        home = locate_home()
        _forget_prefixes(user)
        erase_work_folders(home.harness, user)
        return dict(sorted({**counts, "agent_records": erase_agent_records(home.agents, user)}.items()))

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _forget_prefixes(user: str) -> None:
    """After the rows: a turn that still runs could otherwise make a state of them again."""
    PrefixStates(locate_home().prefixes, budget_bytes=0).erase(user)
