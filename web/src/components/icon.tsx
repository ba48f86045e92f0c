/** Icons of the dashboard, drawn on a grid of 20. They only decorate: the words beside them say it too. */

const PATHS = {
  overview: "M3 11.5h4l2-6 3 9 2-5h3",
  teams: "M10 3.5v4M10 7.5 5 12M10 7.5l5 4.5M5 14.5h.01M15 14.5h.01M10 3.5h.01M5 12v2.5M15 12v2.5",
  chat: "M4 5.5h12a1 1 0 0 1 1 1V13a1 1 0 0 1-1 1H9l-4 3v-3H4a1 1 0 0 1-1-1V6.500a1 1 0 0 1 1-1z",
  engineering: "m7 6-4 4 4 4M13 6l4 4-4 4M11.500 4l-3 12",
  plan: "M3.500 4.500h5v5h-5zM11.500 4.500h5v11h-5zM3.500 12.500h5v3h-5z",
  models: "m10 3 6.500 3.500v7L10 17l-6.500-3.500v-7zM3.500 6.500 10 10l6.500-3.500M10 10v7",
  keys: "M13 4a3.500 3.500 0 1 1-3.200 4.900L3.500 15v2h2.500v-2h2v-2h1.500l1.300-1.300M13.500 7.500h.01",
  settings: "M3 6h6M13 6h4M9 4v4M3 14h2M9 14h8M9 12v4M5 14h4",
  sun: "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.400 4.400l1 1M14.600 14.600l1 1M15.600 4.400l-1 1M5.400 14.600l-1 1",
  moon: "M16.500 12A7 7 0 0 1 8 3.500 7 7 0 1 0 16.500 12z",
  menu: "M3 5.500h14M3 10h14M3 14.500h14",
  close: "m5 5 10 10M15 5 5 15",
  send: "M3 10 17 4l-4 13-3-6z",
  stop: "M6 6h8v8H6z",
  play: "m7 4.500 8 5.500-8 5.500z",
  pause: "M7 5v10M13 5v10",
  check: "m4 10.500 4 4 8-9",
  alert: "M10 3 2.500 16.500h15zM10 8.500v3.500M10 14.300h.01",
  info: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9.500v4M10 6.700h.01",
  download: "M10 3.500v9M6.500 9l3.500 3.500L13.500 9M4 16.500h12",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10.500h6.600L14 6",
  pencil: "m4 16 .8-3.500L13.500 4l2.500 2.500-8.500 8.700z",
  plus: "M10 4v12M4 10h12",
  refresh: "M16 10a6 6 0 1 1-1.800-4.300M16 3.500V6.500h-3",
  arrow: "M4 10h12M11.500 5.500 16 10l-4.500 4.500",
  memory: "M4 4.500h9a2.500 2.500 0 0 1 2.500 2.500v9H6.500A2.500 2.500 0 0 1 4 13.500zM7 8h5M7 11h5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
