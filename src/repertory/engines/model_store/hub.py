"""Fetch one file from the Hugging Face hub into a partial file, resuming where it stopped.

The hub's library takes a while to load, so this module is loaded only when the hub is really asked.
"""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

import httpx2
from huggingface_hub import (
    get_hf_file_metadata,  # pyright: ignore[reportUnknownVariableType]  # the library's own annotation has a bare dict
    hf_hub_url,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.utils import build_hf_headers  # pyright: ignore[reportUnknownVariableType]  # as above

from repertory.catalog.checkpoint_files import HubFile
from repertory.engines.model_store.layout import require_space
from repertory.engines.model_store.progress import Reporter
from repertory.errors import ModelStoreError, UsageError

__all__ = ("HubAnswer", "HubUnreachableError", "ask_hub", "fetch_from_hub", "parse_hub_name")

_ASK_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
_PARTIAL_CONTENT = 206
_REPORT_BYTES = 4 * 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")
_HUB_NAME = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)/(?P<file>[\w./ -]+\.gguf)(?:@(?P<revision>[\w./-]+))?")
_SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


class HubUnreachableError(ModelStoreError):
    """The hub does not answer at all, so asking it again in the same run is a waste of time."""


@dataclass(frozen=True)
class HubAnswer:
    """What the hub says about a file."""

    url: str
    bytes: int
    sha256: str
    commit: str | None


def parse_hub_name(text: str) -> HubFile:
    """Read `hf:ORGANISATION/REPOSITORY/FILE.gguf`, with `@REVISION` at the end if wanted.

    Raises:
        UsageError: It is written otherwise, or names one part of a split model.
    """
    match = _HUB_NAME.fullmatch(text)
    if match is None or ".." in text:
        hint = "write hf:ORGANISATION/REPOSITORY/FILE.gguf, with @REVISION at the end if wanted"
        message = f"not a file on the hub: {text!r}"
        raise UsageError(message, hint=hint)
    if _SPLIT.search(match["file"]):
        raise UsageError("models split into several files are not supported", hint="pull one that is a single file")
    return HubFile(repository=match["repository"], file=match["file"], revision=match["revision"] or "main")


def ask_hub(file: HubFile) -> HubAnswer:
    """Ask the hub for a file's size and checksum, once and with a short time-out.

    Raises:
        HubUnreachableError: The hub does not answer.
        ModelStoreError: It does not have the file, wants an account, or tells no checksum.
    """
    where = f"{file.repository}/{file.file}"
    url = hf_hub_url(file.repository, file.file, revision=file.revision)
    try:
        metadata = get_hf_file_metadata(url, timeout=_ASK_TIMEOUT_S)
    except OfflineModeIsEnabled as error:
        raise HubUnreachableError("the Hugging Face hub is switched off by HF_HUB_OFFLINE") from error
    except httpx2.TransportError as error:
        message = f"the Hugging Face hub can not be reached ({error or type(error).__name__})"
        raise HubUnreachableError(message) from error
    except GatedRepoError as error:
        hint = "accept its terms on its page, then set HF_TOKEN"
        raise ModelStoreError(
            "the hub gives this file only to those who accepted its terms", where=where, hint=hint
        ) from error
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        raise ModelStoreError("the hub does not have this file (or keeps it private)", where=where) from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        message = f"the hub refused: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        raise ModelStoreError(message, where=where) from error
    sha256 = (metadata.etag or "").lower()
    if not _SHA256.fullmatch(sha256) or not metadata.size:
        raise ModelStoreError("the hub tells no SHA-256 for this file", where=where)
    return HubAnswer(url=url, bytes=metadata.size, sha256=sha256, commit=metadata.commit_hash)


def fetch_from_hub(answer: HubAnswer, target: Path, report: Reporter) -> None:
    """Append what is missing of a file to `target`.

    Raises:
        ModelStoreError: The connection broke off; what is there stays for the next time.
    """
    here = target.stat().st_size if target.exists() else 0
    if here > answer.bytes:
        target.unlink()
        here = 0
    require_space(target.parent, answer.bytes - here)
    if here == answer.bytes:
        return
    headers = {**build_hf_headers(), "Accept-Encoding": "identity", "Range": f"bytes={here}-"}
    timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_ASK_TIMEOUT_S)
    try:
        with (
            httpx2.Client(follow_redirects=True, timeout=timeout) as client,  # drops the token when it leaves the hub
            client.stream("GET", answer.url, headers=headers) as response,
        ):
            response.raise_for_status()
            resumed = response.status_code == _PARTIAL_CONTENT
            _append(response, target, here if resumed else 0, answer.bytes, report)
    except httpx2.HTTPError as error:
        message = f"the download from the hub broke off ({error or type(error).__name__})"
        raise ModelStoreError(message, hint="pull again: it goes on where it stopped") from error


def _append(response: httpx2.Response, target: Path, start: int, total: int, report: Reporter) -> None:
    done = reported = start
    with target.open("r+b" if start else "wb") as file:
        file.seek(start)
        try:
            for block in response.iter_raw():
                done += len(block)
                if done > total:
                    raise ModelStoreError("the hub sends more bytes than it said")
                file.write(block)
                if done - reported >= _REPORT_BYTES:
                    reported = done
                    report.at(done)
        finally:
            file.flush()
            with contextlib.suppress(OSError):
                os.fsync(file.fileno())
    if done != total:
        raise ModelStoreError("the download from the hub ended early", hint="pull again: it goes on where it stopped")
    report.at(done)
