import { lazy, Suspense, type ComponentType } from "react";

import { Empty, Loading, PageHead } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { OverviewPage } from "../pages/overview";
import { Link, useLocation } from "./router";
import { useSession } from "./session";

// The first page comes with the application; the others when they are asked for.
const PAGES: Record<string, ComponentType> = {
  "/": OverviewPage,
  "/teams": lazy(async () => ({ default: (await import("../pages/teams")).TeamsPage })),
  "/chat": lazy(async () => ({ default: (await import("../pages/chat/chat_page")).ChatPage })),
  "/engineering": lazy(async () => ({
    default: (await import("../pages/engineering/engineering_page")).EngineeringPage,
  })),
  "/plan": lazy(async () => ({ default: (await import("../pages/plan/plan_page")).PlanPage })),
  "/models": lazy(async () => ({ default: (await import("../pages/models")).ModelsPage })),
  "/keys": lazy(async () => ({ default: (await import("../pages/keys")).KeysPage })),
  "/settings": lazy(async () => ({ default: (await import("../pages/settings")).SettingsPage })),
};

export const FOR_ADMINISTRATORS: ReadonlySet<string> = new Set(["/plan", "/keys"]);

export function Pages() {
  const { path } = useLocation();
  const { session } = useSession();
  const place = path.length > 1 ? path.replace(/\/+$/, "") : path;
  const Page = PAGES[place];
  if (Page === undefined) return <NotFound />;
  if (FOR_ADMINISTRATORS.has(place) && !session.is_admin) return <NotForYou />;
  return (
    <Suspense fallback={<Loading rows={5} />}>
      <Page />
    </Suspense>
  );
}

function NotForYou() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t("app.name")} />
      <Empty icon="keys" title={t("common.adminOnly")} />
    </>
  );
}

function NotFound() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t("notFound.title")} />
      <Empty icon="info" title={t("notFound.hint")}>
        <Link href="/">{t("nav.overview")}</Link>
      </Empty>
    </>
  );
}
