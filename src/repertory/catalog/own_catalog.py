"""The catalog of this installation: the packaged one with the user's own rows."""

from repertory.catalog.loader import Catalog, load_catalog
from repertory.home import locate_home

__all__ = ("own_catalog",)


def own_catalog() -> Catalog:
    """The packaged catalog with the user's own rows (`catalog/*.json` in the home folder)."""
    folder = locate_home().root / "catalog"
    return load_catalog(folder if folder.is_dir() else None)
