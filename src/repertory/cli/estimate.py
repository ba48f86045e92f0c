"""`repertory estimate`: what one instance would take, and how fast it would be."""

from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.output import JsonOption, emit_json, screen
from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.catalog.loader import Catalog
    from repertory.planning.estimate import Estimate
    from repertory.planning.instance import EngineVersion, Instance

__all__ = ("register",)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("estimate")(_estimate)


def _estimate(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model of the catalog, ./config.json, ./FILE.gguf, or hub:ORG/NAME."),
    ],
    devices: Annotated[
        str, typer.Option("--devices", metavar="D", help="rtx4090, 4xA100-80GB, 24GiB, FILE.yaml, auto.")
    ],
    engine: Annotated[str, typer.Option("--engine", metavar="E", help="vllm, llama.cpp or sglang.")] = "vllm",
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="F", help="A format (fp8, awq, q4_k_m) or a repository.")
    ] = None,
    tensor_parallel: Annotated[int, typer.Option("--tensor-parallel", min=1, max=1024)] = 1,
    pipeline_parallel: Annotated[int, typer.Option("--pipeline-parallel", min=1, max=1024)] = 1,
    context: Annotated[
        int | None,
        typer.Option("--context", min=1, help="vLLM: longest request. llama.cpp: all slots together (its -c)."),
    ] = None,
    max_seqs: Annotated[
        int | None, typer.Option("--max-seqs", min=1, max=1_000_000, help="vLLM: requests per step. llama.cpp: slots.")
    ] = None,
    kv_dtype: Annotated[str, typer.Option("--kv-dtype", metavar="T", help="auto, fp8, q8_0, q4_0, ...")] = "auto",
    utilization: Annotated[
        float | None, typer.Option("--utilization", min=0.01, max=1.0, help="Share of memory that vLLM may take.")
    ] = None,
    batched_tokens: Annotated[
        int | None,
        typer.Option("--batched-tokens", min=1, max=100_000_000, help="vLLM: tokens per step. llama.cpp: -ub."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=100_000, help="Requests that decode together.")
    ] = 1,
    prompt: Annotated[int | None, typer.Option("--prompt", min=1, help="Prompt tokens for the prefill speed.")] = None,
    eager: Annotated[bool, typer.Option("--eager", help="Without CUDA graphs.")] = False,
    engine_version: Annotated[
        str | None, typer.Option("--engine-version", metavar="V", help="Of vLLM, like 0.11.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict memory and speed of one instance: does it fit, how long a context, how many requests, how fast."""
    from repertory.catalog.own_catalog import own_catalog
    from repertory.cli.device_option import read_devices
    from repertory.planning.estimate import ENGINES, estimate
    from repertory.planning.kv_cache import cache_types

    if engine not in ENGINES:
        msg = f"There is no engine {engine!r}."
        raise UsageError(msg, hint=f"Known are {', '.join(ENGINES)}.")
    if kv_dtype.lower() not in cache_types(engine):
        msg = f"{engine} has no KV cache of type {kv_dtype!r}."
        raise UsageError(msg, hint=f"It has {', '.join(cache_types(engine))}.")
    catalog = own_catalog()
    profile = read_devices(devices, catalog)
    instance = _instance(model, checkpoint, engine, catalog).with_settings(
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        context=context,
        max_seqs=max_seqs,
        kv_dtype=kv_dtype,
        utilization=utilization,
        batched_tokens=batched_tokens,
        eager=eager,
        version=_version(engine_version),
    )
    result = estimate(instance, profile, concurrency=concurrency, prompt_tokens=prompt)
    if as_json:
        emit_json({"model": model, "engine": engine, "devices": profile.name, **result.document()})
        return
    _show(model, result)


def _version(text: str | None) -> "EngineVersion | None":
    if text is None:
        return None
    parts = text.removeprefix("v").split(".")
    if not all(part.isdecimal() for part in parts[:2]):
        msg = f"{text!r} is not a version."
        raise UsageError(msg, hint="Write it like 0.11.")
    return int(parts[0]), int(parts[1]) if len(parts) > 1 else 0


def _instance(model: str, checkpoint: str | None, engine: str, catalog: "Catalog") -> "Instance":
    from pathlib import Path

    from repertory.planning.instance import instance_of

    if not model.strip():
        raise UsageError("No model is named.", hint="`repertory models show` lists the catalog's.")
    if model.endswith(".gguf"):
        from repertory.catalog.own_gguf import read_gguf

        choice, header = read_gguf(Path(model))
        return instance_of(choice, engine).with_settings(weights=header.weights, weights_known=True)
    if model.startswith("hub:"):
        from repertory.engines.hub_config import fetch_config

        model = str(fetch_config(model.removeprefix("hub:")))
    if model.endswith("config.json") or Path(model, "config.json").is_file():
        from repertory.catalog.formats import format_of
        from repertory.catalog.loader import Choice
        from repertory.catalog.own_config import choice_from_config

        choice = choice_from_config(Path(model))
        if checkpoint is not None:
            spec = format_of(checkpoint)
            if spec is None:
                msg = f"There is no format {checkpoint!r}."
                raise UsageError(msg, hint="fp8, awq, gptq, nvfp4, q4_k_m, q8_0, ...")
            choice = Choice(choice.model, spec, choice.checkpoint if choice.format is spec else None)
        return instance_of(choice, engine)
    return instance_of(catalog.choose(model, checkpoint, engine=engine), engine)


def _show(model: str, result: "Estimate") -> None:
    from rich.table import Table

    from repertory.planning.instance import GIB

    out = screen()
    verdict = "fits" if result.memory.fits else "does not fit"
    settings = result.instance
    out.print(f"{model} ({settings.format.name}) on {settings.engine}: {verdict}", style="bold", markup=False)
    out.print(result.memory.why, markup=False)
    table = Table("device", "weights", "KV pool", "activation", "graphs", "overhead", "free", box=None, pad_edge=False)
    for slot, rank in zip(result.slots, result.memory.ranks, strict=True):
        cells = (rank.weights, rank.kv_pool, rank.activation, rank.graphs, rank.overhead, rank.free)
        table.add_row(f"{slot.name} {slot.device.id}", *(f"{value / GIB:.2f}" for value in cells))
    out.print(table)
    rank = result.memory.ranks[0]
    known = "the checkpoint's known size" if settings.weights_known else "computed from the format"
    out.print(
        f"GiB per device; weights {result.weights_gib[0]:.1f} to {result.weights_gib[1]:.1f} ({known})", markup=False
    )
    out.print(
        f"KV cache: {rank.kv_bytes_per_token:,.0f} bytes per token and device, {rank.kv_tokens:,} tokens; longest "
        f"context {result.memory.max_context:,}, {result.memory.max_concurrency:.1f} requests of {settings.longest:,}",
        markup=False,
    )
    decode, prefill = result.decode, result.prefill
    out.print(
        f"speed: reads {prefill.tok_s:,.0f} tokens/s ({prefill.low:,.0f} to {prefill.high:,.0f}), writes "
        f"{decode.tok_s:.1f} tokens/s per request ({decode.low:.1f} to {decode.high:.1f}) with {result.concurrency} at "
        f"once; bound by {decode.bound}",
        markup=False,
    )
    for risk in result.memory.risks:
        out.print(f"risk: {risk}", style="yellow", markup=False)
