import type { ReactNode } from "react";

import { useLanguage } from "../i18n/language";

const DEEPEST = 6;
const MOST = 60;

/**
 * A JSON value that is not known beforehand, for people: names and values, lists, and text as it is. `of` is its place
 * in the API's answer, empty for the answer itself.
 */
export function Outline({ value, of, depth = 0 }: { value: unknown; of: string; depth?: number }): ReactNode {
  const within = (part: string | number) => (of === "" ? `${part}` : `${of}.${part}`);
  const { locale, t } = useLanguage();
  if (value === null || value === undefined || value === "") return <span className="faint">–</span>;
  if (typeof value === "string") return <span className="break">{value}</span>;
  if (typeof value === "number")
    return (
      <data value={value} data-of={of}>
        {value.toLocaleString(locale, { maximumFractionDigits: 4 })}
      </data>
    );
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (depth >= DEEPEST) return <code className="break">{JSON.stringify(value)}</code>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="faint">–</span>;
    if (value.every((item) => typeof item !== "object" || item === null) && value.join(", ").length < 80) {
      return <span className="break">{value.map(String).join(", ")}</span>;
    }
    return (
      <ul className="outline-list">
        {value.slice(0, MOST).map((item, at) => (
          <li key={at}>
            <Outline value={item} of={within(at)} depth={depth + 1} />
          </li>
        ))}
        {value.length > MOST && <li className="faint">{t("common.more", { count: value.length - MOST })}</li>}
      </ul>
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="faint">–</span>;
  return (
    <dl className="outline">
      {entries.map(([name, item]) => (
        <div key={name}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>
            <Outline value={item} of={within(name)} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
