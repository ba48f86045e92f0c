"""The numbers that a page shows, held against what the API answers.

Each number on a page says where it comes from: `data-api` of an element around it names the answer, and its own
`data-of` the place in it.
"""

from typing import Any, cast

from playwright.sync_api import Page

__all__ = ("at", "check_numbers", "shown_numbers", "unnamed_numbers")

_SHOWN = """api => [...document.querySelectorAll("[data-of]")]
  .filter(element => element.closest("[data-api]")?.dataset.api === api)
  .map(element => [element.dataset.of, element.getAttribute("value"), element.textContent])"""
_UNNAMED = """() => [...document.querySelectorAll("data")]
  .filter(element => element.dataset.of === undefined || element.closest("[data-api]") === null)
  .map(element => element.parentElement.textContent)"""


def at(document: Any, place: str) -> Any:
    """The value at a dotted place of a JSON document; a part that is no index of a list is an `id`.

    Names of files have dots in them: what is left of a place may be one name. Where something is null, what would be
    in it is null too.
    """
    if document is None or place == "":
        return document
    if isinstance(document, dict) and place in document:
        return cast("dict[str, Any]", document)[place]
    part, _, rest = place.partition(".")
    if isinstance(document, list):
        items = cast("list[Any]", document)
        return at(items[int(part)] if part.isdigit() else next(one for one in items if one["id"] == part), rest)
    return at(document[part], rest)


def shown_numbers(page: Page, api: str) -> dict[str, float | None]:
    """The numbers of one answer, by their places; None for one that is shown as not known."""
    found: list[tuple[str, str | None, str]] = page.evaluate(_SHOWN, api)
    for place, value, text in found:
        # A person reads the text: a number must have a digit in it, and what is not known none.
        assert any(character.isdigit() for character in text) == (value is not None), (place, text)
    return {place: None if value is None else float(value) for place, value, _ in found}


def check_numbers(page: Page, api: str, document: Any, *, least: int) -> None:
    """Fail where a number on the page is not the API's, or there are fewer than `least`."""
    shown = shown_numbers(page, api)
    assert len(shown) >= least, sorted(shown)
    assert shown == {place: at(document, place) for place in shown}


def unnamed_numbers(page: Page) -> list[str]:
    """Numbers that do not say where they come from, with what stands around them."""
    return page.evaluate(_UNNAMED)
