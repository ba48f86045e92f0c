import { useEffect, useState, type ReactNode } from "react";

import { answerOf, api } from "../../api/client";
import { useResource } from "../../api/resource";
import type { BlackboardDetail, SectionVersionView } from "../../api/types";
import { Outline } from "../../components/outline";
import { When } from "../../components/quantity";
import { Tabs } from "../../components/tabs";
import { Empty, FailureNotice, Loading } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { Calibration } from "./calibration";
import { Commitments } from "./commitments";
import { OwnData } from "./own_data";
import { Traits } from "./traits";

const MOST_LISTED = 1000;

/** The blackboard, or null where nothing is kept yet: that is the beginning, not a failure. */
async function loadBoard(team: string, user: string): Promise<{ board: BlackboardDetail | null }> {
  const { blackboards } = await answerOf(api.GET("/api/blackboard", { params: { query: { limit: MOST_LISTED } } }));
  const listed = blackboards.some((one) => one.team === team && one.user === user);
  if (!listed && blackboards.length < MOST_LISTED) return { board: null };
  return { board: await answerOf(api.GET("/api/blackboard/{team}/{user}", { params: { path: { team, user } } })) };
}

/** What the team keeps of the person, beside the conversation. */
export function BlackboardSide({ team, user, turnsEnded }: { team: string; user: string; turnsEnded: number }) {
  const { t } = useLanguage();
  const [tab, setTab] = useState("sections");
  const resource = useResource(`board ${team} ${user}`, () => loadBoard(team, user));
  const { reload, loading, error } = resource;
  const board = resource.data?.board ?? null;
  useEffect(() => {
    if (turnsEnded > 0) reload();
  }, [turnsEnded, reload]);
  const content = (show: (data: BlackboardDetail) => ReactNode) => {
    if (board !== null) return show(board);
    if (resource.data !== null)
      return (
        <Empty icon="memory" title={t("board.nothing")}>
          {t("board.nothingHint")}
        </Empty>
      );
    if (loading) return <Loading />;
    return error !== null ? <FailureNotice failure={error} onRetry={reload} /> : null;
  };
  return (
    <aside className="card side" aria-label={t("board.title")} data-api="blackboard">
      <Tabs
        label={t("board.title")}
        current={tab}
        onChange={setTab}
        tabs={[
          { id: "sections", label: t("board.sections"), content: content((data) => <Sections board={data} />) },
          {
            id: "commitments",
            label: t("board.commitments"),
            content: content((data) => <Commitments board={data} onChanged={reload} />),
          },
          {
            id: "calibration",
            label: t("board.calibration"),
            content: content((data) => <Calibration calibration={data.calibration} />),
          },
          {
            id: "data",
            label: t("board.data"),
            content: <OwnData team={team} user={user} board={board} onChanged={reload} />,
          },
        ]}
      />
    </aside>
  );
}

function Sections({ board }: { board: BlackboardDetail }) {
  const { t } = useLanguage();
  const sections = Object.values(board.sections).filter((section) => typeof section.value === "object");
  if (sections.length === 0) return <Empty icon="memory" title={t("board.nothing")} />;
  return (
    <div className="stack-s">
      {sections.map((section) => (
        <details key={section.section} className="section-view" open={section.section === "shadow"}>
          <summary>
            <strong>{section.section.replaceAll("_", " ")}</strong>
            <span className="faint">
              {t("board.version", { version: section.version, agent: section.agent })} · <When at={section.at} />
            </span>
          </summary>
          <SectionValue section={section} />
        </details>
      ))}
      {board.memory !== "" && (
        <details className="section-view">
          <summary>
            <strong>{t("board.memory")}</strong>
          </summary>
          <p className="preformatted">{board.memory}</p>
        </details>
      )}
    </div>
  );
}

/** Names that say twice what another one says, or that are for those who build teams. */
const SAID_ELSEWHERE = new Set(["ocean", "items", "dropped"]);

function SectionValue({ section }: { section: SectionVersionView }) {
  const value: unknown = section.value;
  const of = `sections.${section.section}.value`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return <Outline value={value} of={of} />;
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !SAID_ELSEWHERE.has(name)));
  return (
    <div className="stack-s">
      {"ocean" in value && <Traits ocean={value.ocean} of={`${of}.ocean`} />}
      <Outline value={rest} of={of} />
    </div>
  );
}
