import { useLanguage } from "../i18n/language";

export type Unit = "plain" | "gib" | "bytes" | "seconds" | "tok_s" | "percent" | "count" | "billions";

/** A number for a person: rounded for reading, with its unit. */
export function formatQuantity(value: number, unit: Unit, locale: string): string {
  const digits = (most: number, least = 0) =>
    value.toLocaleString(locale, { maximumFractionDigits: most, minimumFractionDigits: least });
  switch (unit) {
    case "gib":
      return `${digits(value >= 100 ? 0 : value >= 10 ? 1 : 2)} GiB`;
    case "bytes":
      return formatBytes(value, locale);
    case "seconds":
      return value !== 0 && Math.abs(value) < 1
        ? `${Math.round(value * 1000).toLocaleString(locale)} ms`
        : `${digits(value < 10 ? 2 : 1)} s`;
    case "tok_s":
      return `${digits(value >= 100 ? 0 : 1)} tok/s`;
    case "percent":
      return value.toLocaleString(locale, {
        style: "percent",
        maximumFractionDigits: value > 0 && value < 0.1 ? 1 : 0,
      });
    case "billions":
      return `${digits(1)} B`;
    case "count":
      return digits(0);
    case "plain":
      return digits(2);
  }
}

function formatBytes(bytes: number, locale: string): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value.toLocaleString(locale, { maximumFractionDigits: at === 0 || value >= 100 ? 0 : 1 })} ${units[at]}`;
}

/**
 * A number of the API. The element's `value` is the number as the API gave it; `of` names where in the answer that
 * `data-api` of an element around it names, so that a test can compare the two; null for what is reckoned here. What is
 * not known is a dash, never a zero.
 */
export function Quantity({
  value,
  unit = "plain",
  of,
}: {
  value: number | null | undefined;
  unit?: Unit;
  of: string | null;
}) {
  const { locale, t } = useLanguage();
  if (value === null || value === undefined) {
    return (
      <span className="faint" data-of={of ?? undefined}>
        <span aria-hidden="true">–</span>
        <span className="visually-hidden">{t("common.notKnown")}</span>
      </span>
    );
  }
  return (
    <data value={value} data-of={of ?? undefined}>
      {formatQuantity(value, unit, locale)}
    </data>
  );
}

const STYLES = {
  full: { dateStyle: "medium", timeStyle: "medium" },
  short: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
  date: { dateStyle: "medium" },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

/** A moment in the viewer's own zone. */
export function When({ at, style = "short" }: { at: string | null | undefined; style?: keyof typeof STYLES }) {
  const { locale } = useLanguage();
  if (at === null || at === undefined) return <Quantity value={null} of={null} />;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={moment.toLocaleString(locale, { ...STYLES.full, timeStyle: "long" })}>
      {moment.toLocaleString(locale, STYLES[style])}
    </time>
  );
}
