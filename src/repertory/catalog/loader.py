"""The catalog as one object: models and devices by name, with help for names that do not exist."""

import difflib
import json
import re
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from repertory.catalog.formats import FORMATS, CheckpointFormat, format_of
from repertory.catalog.own_row import read_own_row
from repertory.catalog.records import Checkpoint, Device, Model
from repertory.errors import UsageError

__all__ = ("Catalog", "Choice", "check_sources", "load_catalog")

_DATA = files("repertory.catalog") / "data"

_NOISE = frozenset({"instruct", "chat", "it", "hf", "meta", "the", "model"})
_SUFFIXES = re.compile(
    r"[-_. ](?:awq(?:[-_.]?(?:4|8)bit|[-_.]int4)?|gptq(?:[-_.]int[48])?|fp8(?:[-_.](?:dynamic|block))?|nvfp4|mxfp4|"
    r"gguf|int4|int8|w4a16|w8a8|bnb(?:[-_.]4bit)?|quantized\.w8a8|quantized\.w4a16|bf16|fp16|q\d_k_[msl]|q\d_[01k]|4bit|mtp)$",
    re.IGNORECASE,
)


class Choice:
    """A model and one of its checkpoints; the checkpoint may be one that the catalog has no row for."""

    def __init__(self, model: Model, spec: CheckpointFormat, checkpoint: Checkpoint | None) -> None:
        self.model = model
        self.format = spec
        self.checkpoint = checkpoint

    @property
    def repo(self) -> str:
        """Where the files are: the checkpoint's repository, or the model's own."""
        return self.checkpoint.repo if self.checkpoint else self.model.id

    @property
    def known_bytes(self) -> int | None:
        """The size that a source gives, if one does."""
        return self.checkpoint.bytes if self.checkpoint else None


class Catalog:
    """Models and devices with their sources.

    Args:
        models: Rows that plans may choose from.
        extra: Rows that can only be estimated: no benchmark row stands behind them.
        devices: Accelerators.
        sources: What the source keys mean.
    """

    def __init__(
        self, models: list[Model], extra: list[Model], devices: list[Device], sources: dict[str, dict[str, Any]]
    ) -> None:
        self.models = models
        self.extra = extra
        self.devices = devices
        self.sources = sources

    @cached_property
    def _by_name(self) -> dict[str, Model]:
        names: dict[str, Model] = {}
        for model in (*self.models, *self.extra):
            for name in (model.id.lower(), model.name.lower(), _squeeze(model.name)):
                names.setdefault(name, model)
        return names

    @cached_property
    def _by_repo(self) -> dict[str, tuple[Model, Checkpoint]]:
        found: dict[str, tuple[Model, Checkpoint]] = {}
        for model in (*self.models, *self.extra):
            for row in model.checkpoints:
                found.setdefault(row.repo.lower(), (model, row))
        return found

    def find_model(self, text: str) -> Model:
        """The model that a name means: an id, its last part, a checkpoint's repository, or a unique short form.

        Raises:
            UsageError: No model, or more than one, is meant.
        """
        return self._resolve(text)[0]

    def choose(self, text: str, checkpoint: str | None = None, *, engine: str | None = None) -> Choice:
        """The model and checkpoint that a user names.

        Args:
            text: A model or a checkpoint's repository.
            checkpoint: A format (`fp8`, `awq`, `q4_k_m`) or a repository; None takes what the name says, else the
                model's own format (for llama.cpp its Q4_K_M file).
            engine: `llama.cpp` prefers GGUF files.
        """
        choice = self._choose(text, checkpoint, engine)
        if engine != "llama.cpp" or choice.format.gguf:
            return choice
        return self._by_format(choice.model, _gguf_twin(choice.format, choice.model))

    def _choose(self, text: str, checkpoint: str | None, engine: str | None) -> Choice:
        model, row, spec = self._resolve(text)
        if checkpoint is not None:
            return self._checkpoint(model, checkpoint)
        if (
            row is not None
            and row.repo.lower() != model.id.lower()
            and sum(other.repo == row.repo for other in model.checkpoints) == 1
        ):
            return Choice(model, FORMATS[row.format], row)
        if spec is not None:
            return self._by_format(model, spec)
        if engine == "llama.cpp":
            return self._by_format(model, _gguf_twin(FORMATS["w4a16"], model))
        return self._by_format(model, FORMATS[model.native_format])

    def find_device(self, text: str) -> Device:
        """The device that a name means (`rtx4090`, `RTX 4090`, `A100-80GB`, `NVIDIA L40S`).

        Raises:
            UsageError: There is no such device.
        """
        wanted = _squeeze_device(text)
        names: dict[str, Device] = {}
        for device in self.devices:
            for name in (device.id, device.name, *device.aliases):
                names.setdefault(_squeeze_device(name), device)
        if wanted in names:
            return names[wanted]
        # Logs print a memory size or a part number behind the name: the longest name that starts it is meant.
        for name in sorted(names, key=len, reverse=True):
            if len(name) > 2 and wanted.startswith(name):
                return names[name]
        close = difflib.get_close_matches(wanted, list(names), n=3, cutoff=0.5)
        meant = ", ".join(dict.fromkeys(names[name].id for name in close))
        msg = f"There is no device called {text!r}."
        raise UsageError(
            msg,
            hint=f"Did you mean {meant}?" if meant else "`repertory devices` lists the names; `24GiB` means any card.",
        )

    def _resolve(self, text: str) -> tuple[Model, Checkpoint | None, CheckpointFormat | None]:
        name = text.strip().lower()
        if name in self._by_name:
            return self._by_name[name], None, None
        if name in self._by_repo:
            model, row = self._by_repo[name]
            return model, row, FORMATS[row.format]
        spec: CheckpointFormat | None = None
        stem = text.strip()
        while (match := _SUFFIXES.search(stem)) is not None:
            hint = match.group()[1:]
            if (found := _suffix_format(hint)) is not None and spec is None:
                spec = found
            stem = stem[: match.start()]
        last = stem.rsplit("/", 1)[-1].lower()
        dotted = re.sub(r"(?<=\d)-(?=\d)", ".", last)
        for candidate in (stem.lower(), last, _squeeze(last), dotted, _squeeze(dotted)):
            if candidate in self._by_name:
                return self._by_name[candidate], None, spec
        words = _words(stem.rsplit("/", 1)[-1])
        fits = [m for m in (*self.models, *self.extra) if words and words <= _words(m.name)]
        if fits:
            fewest = min(len(_words(m.name)) for m in fits)
            best = [m for m in fits if len(_words(m.name)) == fewest]
            if len(best) == 1:
                return best[0], None, spec
        raise self._unknown_model(text, fits)

    def _unknown_model(self, text: str, fits: list[Model]) -> UsageError:
        if len(fits) > 1:
            names = ", ".join(model.id for model in fits[:6])
            return UsageError(f"More than one model is called {text!r}.", hint=f"Say which: {names}.")
        names = {model.name.lower(): model for model in (*self.models, *self.extra)}
        close = difflib.get_close_matches(text.rsplit("/", 1)[-1].lower(), list(names), n=3, cutoff=0.4)
        meant = " or ".join(names[name].id for name in close)
        hint = f"Did you mean {meant}? " if meant else ""
        return UsageError(
            f"There is no model called {text!r} in the catalog.",
            hint=hint + "`repertory estimate ./config.json` and `./file.gguf` take a model of your own.",
        )

    def _checkpoint(self, model: Model, text: str) -> Choice:
        for row in model.checkpoints:
            if row.repo.lower() == text.lower():
                return Choice(model, FORMATS[row.format], row)
        spec = format_of(text) or _suffix_format(text)
        if spec is None:
            have = ", ".join(sorted({row.format for row in model.checkpoints})) or "none"
            msg = f"{model.id} has no checkpoint {text!r}, and there is no format of that name."
            raise UsageError(
                msg,
                hint=f"In the catalog: {have}. Any format can be estimated: {', '.join(sorted(FORMATS))}.",
            )
        return self._by_format(model, spec)

    @staticmethod
    def _by_format(model: Model, spec: CheckpointFormat) -> Choice:
        rows = [row for row in model.checkpoints if row.format == spec.name]
        rows.sort(key=lambda row: (row.bytes is None, not row.bytes_exact, row.repo.startswith("docker:"), row.repo))
        return Choice(model, spec, rows[0] if rows else None)


def check_sources(catalog: Catalog) -> list[str]:
    """Rows whose source is neither an address, a key of the sources, nor marked as general knowledge."""

    def known(source: str) -> bool:
        return source in catalog.sources or source.startswith(("http://", "https://")) or source in (
            "general knowledge", "recalled", "a public engine log without an address",
        )  # fmt: skip

    wrong: list[str] = []
    for model in (*catalog.models, *catalog.extra):
        rows = [model.params_source, *model.arch_sources, model.serving.source]
        rows += [row.source for row in model.checkpoints] + [row.source for row in model.scores]
        wrong += [f"{model.id}: source {source!r}" for source in rows if not known(source)]
    for device in catalog.devices:
        facts = (device.memory_gib, device.bandwidth_gb_s, device.tflops, device.quant_tops)
        wrong += [f"{device.id}: source {fact.source!r}" for fact in facts if fact and not _plausible(fact.source)]
    return wrong


def _plausible(source: str) -> bool:
    return len(source) >= 4  # devices name a file or an address in words


@cache
def load_catalog(own: Path | None = None) -> Catalog:
    """Read the packaged catalog, with a user's own model rows from the `*.json` files of a folder.

    Raises:
        UsageError: A row of the user's own is not valid, or has no source.
    """
    main = json.loads((_DATA / "models.json").read_text("utf-8"))
    extra = json.loads((_DATA / "extra_models.json").read_text("utf-8"))
    devices = json.loads((_DATA / "devices.json").read_text("utf-8"))
    catalog = Catalog(
        [Model.model_validate(row) for row in main["models"]],
        [Model.model_validate(row) for row in extra["models"]],
        [Device.model_validate(row) for row in devices["devices"]],
        {**main["sources"], **extra["sources"]},
    )
    for path in sorted(own.glob("*.json")) if own is not None and own.is_dir() else ():
        model = read_own_row(path, [other.id for other in (*catalog.models, *catalog.extra)])
        (catalog.models if model.scores else catalog.extra).append(model)
    return catalog


def _gguf_twin(spec: CheckpointFormat, model: Model) -> CheckpointFormat:
    """The GGUF type nearest to a safetensors format, which llama.cpp can not load."""
    if model.native_format == "mxfp4":
        return FORMATS["gguf-mxfp4_moe"]
    names = {"bf16": "gguf-bf16", "fp8": "gguf-q8_0", "int8": "gguf-q8_0"}
    return FORMATS[names.get(spec.kernel, "gguf-q4_k_m")]


def _suffix_format(text: str) -> CheckpointFormat | None:
    text = text.lower().replace("_", "-").replace("quantized.", "")
    return format_of(text) or format_of(text.replace("-", "_"))


def _squeeze(text: str) -> str:
    return "".join(word for word in re.findall(r"[a-z0-9.]+", text.lower()) if word not in _NOISE)


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z]+|\d+(?:\.\d+)?b?|[a-z0-9.]+", text.lower())
    return frozenset(word for word in words if word not in _NOISE)


def _squeeze_device(text: str) -> str:
    text = re.sub(r"nvidia|geforce|amd|instinct|generation|device", "", text.lower())
    return re.sub(r"[^a-z0-9]", "", text)
