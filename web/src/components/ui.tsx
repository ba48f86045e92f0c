import { useEffect, useId, type ButtonHTMLAttributes, type ReactNode } from "react";

import type { ApiFailure } from "../api/client";
import { useLanguage } from "../i18n/language";
import { Icon, type IconName } from "./icon";

export type Tone = "neutral" | "good" | "bad" | "warn" | "info" | "velvet";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  busy?: boolean;
  small?: boolean;
}

export function Button({
  look = "plain",
  icon,
  busy = false,
  small = false,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={`button button-${look}${small ? " button-small" : ""}`}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <span className="spinner" aria-hidden="true" /> : icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </button>
  );
}

export function IconButton({
  icon,
  label,
  ...rest
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

export function Badge({
  tone = "neutral",
  live = false,
  children,
}: {
  tone?: Tone;
  live?: boolean;
  children: ReactNode;
}) {
  return (
    <span className={`badge badge-${tone}`}>
      {live && <span className="live-dot" aria-hidden="true" />}
      {children}
    </span>
  );
}

export function Card({
  title,
  aside,
  children,
  level = 2,
  className = "",
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  level?: 2 | 3;
  className?: string;
}) {
  const Heading = `h${level}` as const;
  const id = useId();
  return (
    <section className={`card ${className}`} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header className="card-head">
          <Heading id={id}>{title}</Heading>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

export function PageHead({ title, lead, children }: { title: string; lead?: string; children?: ReactNode }) {
  const { t } = useLanguage();
  useEffect(() => {
    document.title = `${title} · ${t("app.name")}`;
  }, [title, t]);
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p className="muted">{lead}</p>}
      </div>
      {children !== undefined && <div className="row">{children}</div>}
    </header>
  );
}

/** A failure as the API told it, with what to do about it. */
export function FailureNotice({ failure, onRetry }: { failure: ApiFailure; onRetry?: () => void }) {
  const { t } = useLanguage();
  return (
    <div className="notice notice-bad" role="alert">
      <Icon name="alert" />
      <div>
        <p>{failure.offline ? t("common.offline") : failure.message}</p>
        {failure.hint !== null && <p className="faint">{failure.hint}</p>}
      </div>
      {onRetry !== undefined && (
        <Button small onClick={onRetry} icon="refresh">
          {t("common.retry")}
        </Button>
      )}
    </div>
  );
}

export function Notice({
  tone = "info",
  icon = "info",
  children,
}: {
  tone?: "info" | "warn" | "good" | "bad";
  icon?: IconName;
  children: ReactNode;
}) {
  return (
    <div className={`notice notice-${tone}`} role={tone === "good" ? "status" : undefined}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={icon} size={36} />
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="muted">{children}</div>}
    </div>
  );
}

export function Loading({ rows = 3 }: { rows?: number }) {
  const { t } = useLanguage();
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{t("common.loading")}</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  );
}

export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string;
  children: (ids: { id: string; describedBy: string | undefined }) => ReactNode;
}) {
  const id = useId();
  const hintId = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, describedBy: hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <p id={hintId} className="faint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** A share of a whole as a bar; the numbers stand beside it, so it is hidden from screen readers. */
export function Meter({ parts, total }: { parts: { value: number; look: string }[]; total: number }) {
  return (
    <div className="meter" aria-hidden="true">
      {parts.map((part, at) => (
        <span
          key={at}
          className={`meter-part meter-${part.look}`}
          style={{ width: `${Math.min(100, Math.max(0, (100 * part.value) / (total || 1)))}%` }}
        />
      ))}
    </div>
  );
}

export function Stat({ label, children, note }: { label: string; children: ReactNode; note?: ReactNode }) {
  return (
    <div className="stat">
      <dt>{label}</dt>
      <dd>
        {children}
        {note !== undefined && <span className="faint"> {note}</span>}
      </dd>
    </div>
  );
}
