"""The registry of deployed agents: versions, their states, and packages that are what was signed."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from repertory.errors import PackageError, RegistryError, UsageError
from repertory.home import Home, locate_home
from repertory.registry.archive import read_archive, split_signature, with_signature, write_archive
from repertory.registry.folder import read_folder, write_folder
from repertory.registry.package import AgentPackage, digest_of
from repertory.registry.records import AgentRecords
from repertory.registry.signing import Signature, SigningKey, fingerprint, verify
from repertory.storage.agent_records import AgentEvent, AgentVersion, NewVersion
from repertory.storage.store import Store
from repertory.storage.user_records import RECORDS_FILE

__all__ = ("Deployed", "Loaded", "Registry", "parse_label")

_LABEL = re.compile(r"([a-z0-9][a-z0-9-]{0,63})(?:@([1-9][0-9]{0,8}))?")


class Deployed(NamedTuple):
    """A version, and whether the deployment made it; the same content again gives the version that has it."""

    version: AgentVersion
    new: bool


class Loaded(NamedTuple):
    """A version with its package, checked against its signature."""

    version: AgentVersion
    package: AgentPackage


def parse_label(text: str) -> tuple[str, int | None]:
    """Read `agent` or `agent@version`.

    Raises:
        UsageError: It is neither.
    """
    match = _LABEL.fullmatch(text)
    if match is None:
        message = f"not an agent: {text[:80]!r}"
        raise UsageError(message, hint="write NAME or NAME@VERSION, such as slug-maker or slug-maker@3")
    return match[1], int(match[2]) if match[2] else None


class Registry:
    """The agents of one home. Methods block, and any number of threads and processes may use them at once.

    Attributes:
        watch_log: How calls of the agents ended, and requests for their repair.
    """

    def __init__(self, store: Store, home: Home | None = None) -> None:
        self._agents = store.agents
        self.watch_log = store.agent_watch
        self._home = home or locate_home()
        self._key: SigningKey | None = None

    @property
    def key(self) -> SigningKey:
        """The key that this registry signs with."""
        if self._key is None:
            self._key = SigningKey.of(self._home)
        return self._key

    def deploy(self, files: Mapping[str, bytes], source: Mapping[str, Any] | None = None) -> Deployed:
        """Check a package, sign it, and keep it as a draft.

        Args:
            files: The package's files, by path.
            source: How it came about, for the history.

        Raises:
            PackageError: It is not a valid package.
        """
        package = AgentPackage.of(files)
        signature = self.key.sign(package.name, package.digest)
        new = NewVersion(
            package.name, package.digest, package.files, signature.public_key, signature.value, dict(source or {})
        )
        return Deployed(*self._agents.add(new))

    def import_from(self, place: Path, *, trust: str | None = None) -> Deployed:
        """Deploy a package from an archive or a folder, as a draft.

        Args:
            place: The archive or folder.
            trust: The fingerprint of a key that is not ours, and is to be believed this once.

        Raises:
            PackageError: It is not a valid package, was changed after it was signed, or is signed by a key that is
                neither ours nor trusted.
        """
        files, signature = split_signature(read_folder(place) if place.is_dir() else read_archive(place))
        source: dict[str, Any] = {"imported_from": place.name[:200]}
        if signature is not None:
            package = AgentPackage.of(files)
            verify(signature, package.name, package.digest)
            source["signed_by"] = fingerprint(signature.public_key)
        if signature is None or signature.public_key != self.key.public_key:
            self._check_trust(signature, trust)
        return self.deploy(files, source)

    def _check_trust(self, signature: Signature | None, trust: str | None) -> None:
        signer = fingerprint(signature.public_key) if signature else "unsigned"
        if trust == signer:
            return
        if signature is None:
            message = "the package is not signed"
        else:
            message = f"the package is signed by the key {signer}, which is not ours"
        raise PackageError(message, hint=f"if you know where it comes from: --trust {signer}")

    def names(self) -> list[str]:
        """The agents, sorted."""
        return self._agents.names()

    def live_names(self) -> list[str]:
        """The agents that answer, sorted."""
        return self._agents.live_names()

    def versions(self, name: str) -> list[AgentVersion]:
        """The versions of an agent, newest first.

        Raises:
            UsageError: There is no such agent.
        """
        found = self._agents.versions(name)
        if not found:
            raise self._agents.unknown(name)
        return found

    def resolve(self, name: str, version: int | None = None) -> AgentVersion:
        """The version that answers for a name: the live one, unless a number is given.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
        """
        return _chosen(name, version, self.versions(name))

    def answering(self, name: str) -> tuple[AgentVersion, AgentVersion | None]:
        """The live version, and the canary that shares its calls, if there is one.

        Raises:
            UsageError: There is no such agent.
            RegistryError: None is live.
        """
        versions = self.versions(name)
        canaries = (one for one in versions if one.state == "canary" and one.share is not None)
        return _chosen(name, None, versions), next(canaries, None)

    def load(self, version: AgentVersion) -> Loaded:
        """The package of a version, if it is what was signed with our key.

        Raises:
            PackageError: A file was changed, added or taken away; `where` names it where that can be known.
        """
        stored = self._agents.files(version)
        for path, (digest, content) in stored.items():
            if hashlib.sha256(content).hexdigest() != digest:
                raise _tampered(version, f"{version.label}/{path}", "this file is not the one that was signed")
        files = {path: content for path, (_digest, content) in stored.items()}
        if digest_of(files) != version.digest:
            raise _tampered(version, version.label, "the list of its files is not the one that was signed")
        if version.public_key != self.key.public_key:
            signer = fingerprint(version.public_key)
            raise _tampered(version, version.label, f"it is signed by the key {signer}, which is not ours")
        verify(Signature(version.public_key, version.signature), version.agent, version.digest)
        return Loaded(version, AgentPackage.of(files))

    def promote(
        self,
        name: str,
        version: int,
        to: Literal["canary", "live"] = "live",
        detail: Mapping[str, Any] | None = None,
        *,
        share: int | None = None,
    ) -> AgentVersion:
        """Make a version the canary or the live one, after its package was checked. The one before it makes room.

        Args:
            name: The agent.
            version: The version.
            to: What it becomes.
            detail: More for the history.
            share: Of a canary: the percent of calls that it answers, from 1 to 99; 0 lets it answer beside the live
                version, unheard; None lets it answer those alone that name it.

        Raises:
            UsageError: There is no such version, or the share is none.
            PackageError: Its package is not what was signed.
        """
        if share is not None and (to != "canary" or not 0 <= share < 100):
            message = (
                f"a canary's share is 0 to 99 percent, not {share}" if to == "canary" else "only a canary has a share"
            )
            raise UsageError(message)
        found = self.resolve(name, version)
        self.load(found)
        told = {**(detail or {}), **({} if share is None else {"share": share})}
        self._agents.set_state(name, version, to, what="promoted", detail=told, share=share)
        return self.resolve(name, version)

    def retire(self, name: str, version: int, detail: Mapping[str, Any] | None = None) -> AgentVersion:
        """Take a version out of use.

        Raises:
            UsageError: There is no such version.
        """
        self._agents.set_state(name, version, "retired", what="retired", detail=detail or {})
        return self.resolve(name, version)

    def roll_back(self, name: str, detail: Mapping[str, Any] | None = None) -> AgentVersion:
        """Make the version live again that was live before the present one.

        Raises:
            UsageError: There is none, or no such agent.
        """
        return self._agents.roll_back(name, detail or {})

    def history(self, name: str) -> list[AgentEvent]:
        """What happened to an agent, oldest first.

        Raises:
            UsageError: There never was such an agent.
        """
        events = self._agents.history(name)
        if not events:
            raise self._agents.unknown(name)
        return events

    def note(self, name: str, version: int | None, what: str, detail: Mapping[str, Any]) -> None:
        """Add an entry of the caller's to an agent's history.

        Raises:
            UsageError: There is no such agent.
        """
        self._agents.note(name, version, what, detail)

    def export(self, version: AgentVersion, target: Path, *, as_folder: bool = False) -> Path:
        """Write a version's package, with its signature, as an archive or as a folder.

        Raises:
            RegistryError: Something is there already, or it can not be written.
            PackageError: The package is not what was signed.
        """
        loaded = self.load(version)
        signature = Signature(version.public_key, version.signature)
        files = with_signature(loaded.package.files, version.version, version.digest, signature)
        if as_folder:
            write_folder(files, target)
        else:
            write_archive(version.agent, files, target)
        return target

    def remove(self, name: str, *, keep_state: bool = False) -> list[int]:
        """Delete an agent's versions and, unless it is to be kept, its state. Its history stays.

        Raises:
            UsageError: There is no such agent.
        """
        versions = self._agents.remove(name)
        folder = self.state_folder(name).parent
        if not keep_state and folder.exists():
            try:
                shutil.rmtree(folder)
            except OSError as error:
                message = f"the agent is removed, its state could not be: {error.strerror or error}"
                raise RegistryError(message, where=str(folder), hint="remove the folder by hand") from None
        return versions

    def records(self, loaded: Loaded) -> AgentRecords:
        """The records that an agent keeps, as a version of it uses them."""
        manifest = loaded.package.manifest
        grant = manifest.permissions.records
        path = self._home.agents / manifest.name / RECORDS_FILE
        limit = manifest.limits.state_mib * 1024 * 1024
        return AgentRecords(path, limit, grant.schema_version if grant is not None else 1)

    def state_folder(self, name: str) -> Path:
        """Where an agent's state is, whatever its version. It may not be there yet."""
        return self._home.agents / name / "state"


def _chosen(name: str, version: int | None, versions: list[AgentVersion]) -> AgentVersion:
    """The version of a number, or the live one."""
    for found in versions:
        if found.version == version or (version is None and found.state == "live"):
            return found
    if version is not None:
        known = ", ".join(found.label for found in versions[:8])
        message = f"there is no {name}@{version}"
        raise UsageError(message, hint=f"there are {known}")
    message = f"no version of {name} is live"
    raise RegistryError(message, hint=f"`repertory agents promote {versions[0].label}` makes its newest version live")


def _tampered(version: AgentVersion, where: str, message: str) -> PackageError:
    return PackageError(message, where=where, hint=f"it is not run; deploy {version.agent} again, or roll back")
