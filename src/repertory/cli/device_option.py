"""The `--devices` option: a named profile, a count of cards, a YAML file, or what this machine has."""

from pathlib import Path
from typing import TYPE_CHECKING

from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.catalog.loader import Catalog
    from repertory.catalog.profiles import DeviceProfile

__all__ = ("read_devices",)


def read_devices(text: str, catalog: "Catalog") -> "DeviceProfile":
    """The profile that `--devices` names."""
    from repertory.catalog.profiles import profile_named

    if text.strip().lower() in ("auto", "detected", "this"):
        from repertory.engines.devices import detected_profile

        return detected_profile(catalog)
    if text.endswith((".yaml", ".yml")):
        from repertory.catalog.profile_file import profile_from_yaml

        path = Path(text)
        if not path.is_file():
            raise UsageError("There is no such device file.", where=text)
        return profile_from_yaml(path, catalog)
    return profile_named(text, catalog)
