import { useEffect, useRef, useState, type ReactNode } from "react";

import { useConnected } from "../api/live";
import { Icon, type IconName } from "../components/icon";
import { IconButton } from "../components/ui";
import { setTheme, useShownTheme } from "../design/theme";
import type { Message } from "../i18n/catalogs";
import { useLanguage } from "../i18n/language";
import { FOR_ADMINISTRATORS } from "./pages";
import { Link, useLocation } from "./router";
import { useSession } from "./session";

const LINKS: { href: string; icon: IconName; label: Message }[] = [
  { href: "/", icon: "overview", label: "nav.overview" },
  { href: "/teams", icon: "teams", label: "nav.teams" },
  { href: "/chat", icon: "chat", label: "nav.chat" },
  { href: "/engineering", icon: "engineering", label: "nav.engineering" },
  { href: "/plan", icon: "plan", label: "nav.plan" },
  { href: "/models", icon: "models", label: "nav.models" },
  { href: "/keys", icon: "keys", label: "nav.keys" },
  { href: "/settings", icon: "settings", label: "nav.settings" },
];

/** The frame around every page: where one is, where one can go, and whether the page is live. */
export function Shell({ children }: { children: ReactNode }) {
  const { t } = useLanguage();
  const { session } = useSession();
  const { path } = useLocation();
  const theme = useShownTheme();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    setOpen(false);
    if (shown.current === path) return;
    shown.current = path;
    // A new page begins at its top, for eyes and for screen readers.
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path]);
  useEffect(() => {
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") setOpen(false);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open]);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t("nav.skip")}
      </a>
      <header className="top">
        <button
          type="button"
          className="icon-button menu-button"
          aria-expanded={open}
          aria-controls="navigation"
          aria-label={t("nav.menu")}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "close" : "menu"} />
        </button>
        <Link href="/" className="brand">
          <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" className="brand-ground" />
            <path
              d="M6 7h20v3c-3 0-4 2-4 6 0 3 1 6 2 9h-4c-2-3-3-6-3-9h-2c0 3-1 6-3 9H8c1-3 2-6 2-9 0-4-1-6-4-6z"
              className="brand-curtain"
            />
          </svg>
          Repertory
        </Link>
        <LiveMark />
        <IconButton
          icon={theme === "dark" ? "sun" : "moon"}
          label={t(theme === "dark" ? "nav.toLight" : "nav.toDark")}
          onClick={() => setTheme(theme === "dark" ? "light" : "dark")}
        />
      </header>
      <nav id="navigation" className="side-nav" data-open={open || undefined} aria-label={t("nav.label")}>
        <ul>
          {LINKS.filter((link) => session.is_admin || !FOR_ADMINISTRATORS.has(link.href)).map((link) => (
            <li key={link.href}>
              <Link
                href={link.href}
                aria-current={path === link.href ? "page" : undefined}
                onClick={() => setOpen(false)}
              >
                <Icon name={link.icon} />
                {t(link.label)}
              </Link>
            </li>
          ))}
        </ul>
        <p className="faint">
          {session.user} · {session.version}
        </p>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <Reconnecting />
        {children}
      </main>
    </div>
  );
}

function LiveMark() {
  const { t } = useLanguage();
  const connected = useConnected();
  return (
    <span className="live-mark" data-live={connected === true || undefined}>
      <span className="live-dot" aria-hidden="true" />
      {t(connected === true ? "nav.live" : connected === false ? "nav.offline" : "nav.connecting")}
    </span>
  );
}

/** Told only when it lasts: a connection that is back at once is nobody's concern. */
const GRACE_MS = 800;

function Reconnecting() {
  const { t } = useLanguage();
  const connected = useConnected();
  const [told, setTold] = useState(false);
  useEffect(() => {
    if (connected !== false) {
      setTold(false);
      return;
    }
    const timer = setTimeout(() => setTold(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [connected]);
  return (
    <div role="status" className="reconnecting-place">
      {told && (
        <p className="notice notice-warn reconnecting">
          <span className="spinner" aria-hidden="true" /> {t("nav.reconnecting")}
        </p>
      )}
    </div>
  );
}
