/** A team as a layered drawing: memory on the left, then step for step each agent and the section that it writes. */

export interface TeamShape {
  agents: Record<string, { writes: string; reads: Record<string, { mode: string }>; step: number }>;
  sections: Record<string, { by: string }>;
  replies: Record<string, string | null>;
}

export interface GraphNode {
  id: string;
  kind: "agent" | "section" | "memory";
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphEdge {
  id: string;
  kind: "writes" | "fresh" | "latest";
  from: string;
  to: string;
  path: string;
}

export interface TeamGraphLayout {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
}

const SIZE = {
  agent: { width: 148, height: 44 },
  section: { width: 132, height: 34 },
  memory: { width: 132, height: 34 },
};
const COLUMN_GAP = 64;
const ROW = 66;
const MARGIN = 16;

/**
 * Lay a team out. Edges that go back in time (a `latest` read) start at the memory column, so that all go to the right
 * and none crosses the node it belongs to.
 */
export function layoutTeam(team: TeamShape): TeamGraphLayout {
  const columns: { kind: GraphNode["kind"]; name: string; id: string }[][] = [];
  const edges: Omit<GraphEdge, "path">[] = [];
  const memories = new Set<string>();
  const steps = Math.max(0, ...Object.values(team.agents).map((agent) => agent.step));
  for (const [name, agent] of Object.entries(team.agents)) {
    edges.push({ id: `${name}>${agent.writes}`, kind: "writes", from: `agent:${name}`, to: `section:${agent.writes}` });
    for (const [section, read] of Object.entries(agent.reads)) {
      if (read.mode === "fresh") {
        edges.push({ id: `${section}>${name}`, kind: "fresh", from: `section:${section}`, to: `agent:${name}` });
      } else {
        memories.add(section);
        edges.push({ id: `${section}~${name}`, kind: "latest", from: `memory:${section}`, to: `agent:${name}` });
      }
    }
  }
  if (memories.size > 0) {
    columns.push([...memories].map((name) => ({ kind: "memory" as const, name, id: `memory:${name}` })));
  }
  for (let step = 1; step <= steps; step += 1) {
    const agents = Object.entries(team.agents).filter(([, agent]) => agent.step === step);
    columns.push(agents.map(([name]) => ({ kind: "agent" as const, name, id: `agent:${name}` })));
    columns.push(
      agents.map(([, agent]) => ({ kind: "section" as const, name: agent.writes, id: `section:${agent.writes}` })),
    );
  }
  order(columns, edges);
  return place(columns, edges);
}

/** Sort each column by the mean place of what its nodes are joined to, there and back, so that few edges cross. */
function order(columns: { id: string }[][], edges: { from: string; to: string }[]): void {
  const sweep = (from: number[], near: "from" | "to", far: "from" | "to") => {
    for (const at of from) {
      const places = new Map<string, number>();
      columns.forEach((column, index) => {
        if (index !== at) column.forEach((node, row) => places.set(node.id, row - (column.length - 1) / 2));
      });
      const mean = (id: string): number => {
        const rows = edges
          .filter((edge) => edge[near] === id)
          .map((edge) => places.get(edge[far]))
          .filter((row) => row !== undefined);
        return rows.length === 0 ? Number.NaN : rows.reduce((sum, row) => sum + row, 0) / rows.length;
      };
      const column = columns[at] ?? [];
      const keyed = column.map((node, row) => {
        const wish = mean(node.id);
        return { node, key: Number.isNaN(wish) ? row - (column.length - 1) / 2 : wish, row };
      });
      keyed.sort((a, b) => a.key - b.key || a.row - b.row);
      columns[at] = keyed.map((item) => item.node);
    }
  };
  const forth = columns.map((_, at) => at);
  for (let pass = 0; pass < 3; pass += 1) {
    sweep(forth.slice(1), "to", "from");
    sweep(forth.slice(0, -1).reverse(), "from", "to");
  }
}

function place(
  columns: { kind: GraphNode["kind"]; name: string; id: string }[][],
  edges: Omit<GraphEdge, "path">[],
): TeamGraphLayout {
  const rows = Math.max(1, ...columns.map((column) => column.length));
  const height = rows * ROW + MARGIN;
  const nodes: GraphNode[] = [];
  let x = MARGIN;
  for (const column of columns) {
    const widest = Math.max(0, ...column.map((node) => SIZE[node.kind].width));
    column.forEach((node, row) => {
      const size = SIZE[node.kind];
      const middle = height / 2 + (row - (column.length - 1) / 2) * ROW;
      nodes.push({ ...node, ...size, x: x + (widest - size.width) / 2, y: middle - size.height / 2 });
    });
    // A section stands close to the agent that writes it.
    x += widest + (column[0]?.kind === "agent" ? COLUMN_GAP / 2 : COLUMN_GAP);
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const drawn = edges.flatMap((edge) => {
    const from = byId.get(edge.from);
    const to = byId.get(edge.to);
    return from && to ? [{ ...edge, path: curve(from, to) }] : [];
  });
  return { nodes, edges: drawn, width: Math.max(MARGIN * 2, x - COLUMN_GAP + MARGIN), height };
}

function curve(from: GraphNode, to: GraphNode): string {
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const x2 = to.x;
  const y2 = to.y + to.height / 2;
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
