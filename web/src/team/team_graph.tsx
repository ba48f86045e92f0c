import { useMemo } from "react";

import { useLanguage } from "../i18n/language";
import { layoutTeam, type TeamShape } from "./layout";
import type { TurnMoment } from "./turn_events";

/** A team as a graph; with a moment of a turn, each node shows how far it is. */
export function TeamGraph({ team, name, moment }: { team: TeamShape; name: string; moment?: TurnMoment | null }) {
  const { t } = useLanguage();
  const graph = useMemo(() => layoutTeam(team), [team]);
  return (
    <div className="graph-scroll" tabIndex={0} role="group" aria-label={t("graph.label", { team: name })}>
      <svg
        className="graph"
        viewBox={`0 0 ${graph.width} ${graph.height}`}
        width={graph.width}
        height={graph.height}
        aria-hidden="true"
      >
        {graph.edges.map((edge) => (
          <path
            key={edge.id}
            d={edge.path}
            className={`edge edge-${edge.kind}`}
            data-lit={isLit(edge.from, edge.to, moment ?? null) || undefined}
          />
        ))}
        {graph.nodes.map((node) => (
          <g
            key={node.id}
            className={`node node-${node.kind}`}
            data-state={node.kind === "agent" ? (moment?.agents[node.name]?.state ?? "idle") : undefined}
            data-written={(node.kind === "section" && moment?.sections[node.name] !== undefined) || undefined}
            transform={`translate(${node.x} ${node.y})`}
          >
            <rect width={node.width} height={node.height} rx={node.kind === "agent" ? 12 : node.height / 2} />
            <text x={node.width / 2} y={node.height / 2} dominantBaseline="central" textAnchor="middle">
              {shortName(node.name)}
            </text>
          </g>
        ))}
      </svg>
      <ul className="visually-hidden">
        {Object.entries(team.agents).map(([agent, shape]) => (
          <li key={agent}>
            {t("graph.agent", {
              agent,
              reads:
                Object.entries(shape.reads)
                  .map(([section, read]) => `${section} (${read.mode})`)
                  .join(", ") || "-",
              writes: shape.writes,
            })}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** An edge is lit while what it carries is being used. */
function isLit(from: string, to: string, moment: TurnMoment | null): boolean {
  const [fromKind, fromName = ""] = from.split(/:(.*)/s);
  const [, toName = ""] = to.split(/:(.*)/s);
  if (moment === null) return false;
  const agent = fromKind === "agent" ? fromName : toName;
  const state = moment.agents[agent]?.state ?? "idle";
  return state === "reading" || state === "writing";
}

function shortName(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.length > 18 ? `${words.slice(0, 17)}…` : words;
}
