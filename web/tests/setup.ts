import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// What is waited for comes by itself; a busy machine takes longer.
configure({ asyncUtilTimeout: 4000 });

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

// jsdom has no media queries; the light scheme is as good as any.
window.matchMedia = (query) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
  }) as unknown as MediaQueryList;
