import type { CalibrationView } from "../../api/types";
import { Quantity } from "../../components/quantity";
import { Empty, Stat } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

const SIZE = 220;
const EDGE = 30;
const scale = (share: number) => EDGE + share * (SIZE - 2 * EDGE);

/** What was predicted against what happened: on the diagonal, predictions mean what they say. */
export function Calibration({ calibration }: { calibration: CalibrationView }) {
  const { t } = useLanguage();
  if (calibration.n === 0)
    return (
      <Empty icon="overview" title={t("calibration.none")}>
        {t("calibration.noneHint")}
      </Empty>
    );
  const points = calibration.bins.filter((bin) => bin.n > 0 && bin.forecast !== null && bin.kept !== null);
  const most = Math.max(...points.map((bin) => bin.n));
  return (
    <div className="stack">
      <p className="muted">{calibration.note}</p>
      <svg className="calibration" viewBox={`0 0 ${SIZE} ${SIZE}`} aria-hidden="true">
        <rect className="plot" x={EDGE} y={EDGE} width={SIZE - 2 * EDGE} height={SIZE - 2 * EDGE} />
        {[0.25, 0.5, 0.75].map((share) => (
          <g key={share} className="plot-grid">
            <line x1={scale(share)} x2={scale(share)} y1={EDGE} y2={SIZE - EDGE} />
            <line y1={scale(share)} y2={scale(share)} x1={EDGE} x2={SIZE - EDGE} />
          </g>
        ))}
        <line className="plot-diagonal" x1={EDGE} y1={SIZE - EDGE} x2={SIZE - EDGE} y2={EDGE} />
        {points.map((bin) => (
          <circle
            key={bin.low}
            className="plot-point"
            cx={scale(bin.forecast ?? 0)}
            cy={SIZE - scale(bin.kept ?? 0)}
            r={4 + 6 * Math.sqrt(bin.n / most)}
          />
        ))}
        <text x={SIZE / 2} y={SIZE - 8} textAnchor="middle">
          {t("calibration.predicted")} →
        </text>
        <text transform={`translate(14 ${SIZE / 2}) rotate(-90)`} textAnchor="middle">
          {t("calibration.kept")} →
        </text>
      </svg>
      <dl className="stats stats-small">
        <Stat label={t("calibration.settled")}>
          <Quantity value={calibration.n} of="calibration.n" unit="count" />
        </Stat>
        <Stat label={t("calibration.baseRate")}>
          <Quantity value={calibration.base_rate} of="calibration.base_rate" unit="percent" />
        </Stat>
        <Stat label={t("calibration.brier")}>
          <Quantity value={calibration.brier} of="calibration.brier" />
        </Stat>
        <Stat label={t("calibration.skill")}>
          <Quantity value={calibration.skill} of="calibration.skill" />
        </Stat>
      </dl>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("calibration.predicted")}</th>
            <th scope="col" className="number">
              n
            </th>
            <th scope="col" className="number">
              {t("calibration.said")}
            </th>
            <th scope="col" className="number">
              {t("calibration.kept")}
            </th>
          </tr>
        </thead>
        <tbody>
          {calibration.bins.map((bin, at) => (
            <tr key={bin.low}>
              <td>
                <Quantity value={bin.low} of={`calibration.bins.${at}.low`} unit="percent" />–
                <Quantity value={bin.high} of={`calibration.bins.${at}.high`} unit="percent" />
              </td>
              <td className="number">
                <Quantity value={bin.n} of={`calibration.bins.${at}.n`} unit="count" />
              </td>
              <td className="number">
                <Quantity value={bin.forecast} of={`calibration.bins.${at}.forecast`} unit="percent" />
              </td>
              <td className="number">
                <Quantity value={bin.kept} of={`calibration.bins.${at}.kept`} unit="percent" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
