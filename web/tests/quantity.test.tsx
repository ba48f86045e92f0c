import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { formatQuantity, Quantity, When, type Unit } from "../src/components/quantity";
import { LanguageProvider } from "../src/i18n/language";

const show = (element: React.ReactNode) => render(<LanguageProvider>{element}</LanguageProvider>).container;

describe("a number", () => {
  it.each<[number, Unit, string]>([
    [0, "count", "0"],
    [1234567, "count", "1,234,567"],
    [0.0421, "seconds", "42 ms"],
    [0, "seconds", "0 s"],
    [12.34, "seconds", "12.3 s"],
    [0.416, "percent", "42%"],
    [0.004, "percent", "0.4%"],
    [15.648, "gib", "15.6 GiB"],
    [633.6, "gib", "634 GiB"],
    [491_400_032, "bytes", "469 MiB"],
    [512, "bytes", "512 B"],
    [65.36, "tok_s", "65.4 tok/s"],
    [30.5, "billions", "30.5 B"],
  ])("%d as %s is %s", (value, unit, shown) => {
    expect(formatQuantity(value, unit, "en-GB")).toBe(shown);
  });

  it("keeps what the API gave, and says where from", () => {
    const data = show(<Quantity value={15.648} unit="gib" of="memory" />).querySelector("data");
    expect(data?.value).toBe("15.648");
    expect(data?.dataset["of"]).toBe("memory");
  });

  it("that is not known is no zero", () => {
    const container = show(<Quantity value={null} of="memory" />);
    expect(container.querySelector("data")).toBeNull();
    expect(container.textContent).toContain("not known");
  });

  it("is written as the language writes it", () => {
    expect(formatQuantity(1234.5, "plain", "pt-BR")).toBe("1.234,5");
  });
});

it("shows a moment in the viewer's zone", () => {
  const time = show(<When at="2026-01-05T09:00:00Z" style="time" />).querySelector("time");
  const there = new Date("2026-01-05T09:00:00Z").toLocaleTimeString("en-GB");
  expect(time?.dateTime).toBe("2026-01-05T09:00:00Z");
  expect(time?.textContent).toBe(there);
});
