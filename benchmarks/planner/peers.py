"""What other tools would say about the same start-up logs, by the rules that they publish.

* accelerate's estimator: parameters times bytes of the type, nothing else.
* GPUStack's rule for models that are not GGUF: weights times 1.2 plus 2 GiB (`policies/utils.py`).
* The calculators on the web: parameters times bytes times 1.2.
* gguf-parser is a Go program, and no Go is installed here: not run.
"""

from repertory.planning.instance import GIB, Instance

__all__ = ("PEERS", "peer_says_fits", "peer_weights_gib")

PEERS = ("accelerate", "gpustack", "calculator")


def peer_weights_gib(peer: str, instance: Instance) -> float:
    """Weights on each device."""
    parameters = instance.arch.parameters.total
    bits = min(instance.format.linear, 16.0)
    if instance.format.experts is not None:
        bits = instance.format.experts
    if peer == "gpustack":
        return instance.weights.total / instance.devices / GIB
    return parameters * round(bits) / 8 / instance.devices / GIB


def peer_says_fits(peer: str, instance: Instance, device_gib: float) -> bool:
    """Whether the rule lets the instance start on devices of that size."""
    weights = peer_weights_gib(peer, instance)
    if peer == "gpustack":
        return weights * 1.2 + 2.0 <= device_gib
    return weights * (1.2 if peer == "calculator" else 1.0) <= device_gib
