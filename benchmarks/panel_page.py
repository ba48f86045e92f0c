"""The dashboard in a real Chromium, which tells how smooth it is: frames, long tasks, and how late events are shown."""

import contextlib
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

__all__ = ("chromium", "first_page_ms", "forget", "open_browser", "smoothness", "watched_page")

_GAP_MS = 50
"""A longer time between two frames is one that a person sees."""
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
_WATCH = """
(() => {
  const seen = window.seen = { frames: [], tasks: [], arrived: [], shown: [] };
  let before = null;
  const frame = now => {
    if (before !== null) seen.frames.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver(list => list.getEntries().forEach(task => seen.tasks.push([task.startTime, task.duration])))
    .observe({ type: "longtask", buffered: true });
  window.forget = () => { for (const list of Object.values(seen)) list.length = 0; };

  // The stream passes on as it is; each event tells when it happened, and the frame after it shows it.
  const clock = () => performance.timeOrigin + performance.now();
  const note = text => {
    const now = clock();
    const times = [...text.matchAll(/"at":"([^"]+)"/g)].map(found => Date.parse(found[1]));
    if (times.length === 0) return;
    times.forEach(at => seen.arrived.push(now - at));
    // The page handles the event first; what it has drawn is on the screen with the frame after the next.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const drawn = clock();
      times.forEach(at => seen.shown.push(drawn - at));
    }));
  };
  const fetched = window.fetch;
  window.fetch = async (...given) => {
    const answer = await fetched(...given);
    if (!answer.url.includes("/v1/events") || answer.body === null) return answer;
    const decoder = new TextDecoder();
    const watched = answer.body.pipeThrough(new TransformStream({
      transform(bytes, onward) {
        onward.enqueue(bytes);
        note(decoder.decode(bytes, { stream: true }));
      },
    }));
    return new Response(watched, { status: answer.status, headers: answer.headers });
  };
})();
"""
_FIRST = """
window.shownAt = null;
window.tasks = [];
new PerformanceObserver(list => list.getEntries().forEach(task => tasks.push([task.startTime, task.duration])))
  .observe({ type: "longtask", buffered: true });
new MutationObserver((_, watch) => {
  if (document.querySelector("[data-api=overview]")) { window.shownAt = performance.now(); watch.disconnect(); }
}).observe(document, { childList: true, subtree: true });
"""


def chromium() -> Path | None:
    """Where Chromium is, or None; `REPERTORY_CHROMIUM` names another than Debian's."""
    path = Path(os.environ.get("REPERTORY_CHROMIUM") or "/usr/bin/chromium")
    return path if path.exists() else None


@contextlib.asynccontextmanager
async def open_browser(path: Path) -> AsyncGenerator[Browser]:
    """Chromium without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


async def first_page_ms(browser: Browser, url: str) -> float:
    """Milliseconds until the first page shows the server's numbers and answers a person, with nothing in its cache."""
    context = await browser.new_context(viewport={"width": 1280, "height": 860})
    try:
        page = await context.new_page()
        await page.add_init_script(_FIRST)
        await page.goto(url)
        await page.wait_for_selector("[data-api=overview]")
        await page.wait_for_timeout(500)
        shown: float = await page.evaluate("shownAt")
        tasks: list[tuple[float, float]] = await page.evaluate("tasks")
        return max([shown, *(start + took for start, took in tasks if start <= shown)])
    finally:
        await context.close()


@contextlib.asynccontextmanager
async def watched_page(browser: Browser, url: str) -> AsyncGenerator[Page]:
    """The overview, which draws everybody's agents as they work, and watches itself."""
    context = await browser.new_context(viewport={"width": 1280, "height": 860})
    try:
        page = await context.new_page()
        await page.add_init_script(_WATCH)
        await page.goto(url)
        await page.wait_for_selector(".live-mark[data-live]")
        yield page
    finally:
        await context.close()


async def forget(page: Page) -> None:
    """Begin to count anew."""
    await page.evaluate("forget()")


async def smoothness(page: Page) -> dict[str, Any]:
    """What a page has seen of itself since it was told to forget."""
    seen: dict[str, list[Any]] = await page.evaluate("seen")
    frames: list[float] = seen["frames"]
    gaps = [frame for frame in frames if frame > _GAP_MS]
    tasks: list[float] = [took for _, took in seen["tasks"]]
    return {
        "seconds": round(sum(frames) / 1000, 2),
        "frames": len(frames),
        "frame_p50_ms": _percentile(frames, 0.5),
        "frame_p99_ms": _percentile(frames, 0.99),
        "gaps_over_50_ms": len(gaps),
        "share_of_time_in_gaps": round(sum(gaps) / (sum(frames) or 1), 4),
        "longest_gap_ms": round(max(frames, default=0.0), 1),
        "long_tasks": len(tasks),
        "longest_task_ms": round(max(tasks, default=0.0), 1),
        "events": len(seen["arrived"]),
        "event_arrives_p50_ms": _percentile(seen["arrived"], 0.5),
        "event_arrives_p99_ms": _percentile(seen["arrived"], 0.99),
        "event_shown_p50_ms": _percentile(seen["shown"], 0.5),
        "event_shown_p99_ms": _percentile(seen["shown"], 0.99),
    }


def _percentile(values: list[float], share: float) -> float | None:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else None
