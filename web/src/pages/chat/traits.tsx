import { Quantity } from "../../components/quantity";
import type { Message } from "../../i18n/catalogs";
import { useLanguage } from "../../i18n/language";

export const TRAITS = ["openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"] as const;

const NAMES: Record<(typeof TRAITS)[number], Message> = {
  openness: "trait.openness",
  conscientiousness: "trait.conscientiousness",
  extraversion: "trait.extraversion",
  agreeableness: "trait.agreeableness",
  neuroticism: "trait.neuroticism",
};

export function useTraitName(): (trait: (typeof TRAITS)[number]) => string {
  const { t } = useLanguage();
  return (trait) => t(NAMES[trait]);
}

interface Estimate {
  score: number;
  low: number;
  high: number;
}

function estimateOf(ocean: unknown, trait: string): Estimate | null {
  if (typeof ocean !== "object" || ocean === null) return null;
  const value = (ocean as Record<string, unknown>)[trait];
  if (typeof value !== "object" || value === null) return null;
  const { score, low, high } = value as Record<string, unknown>;
  return typeof score === "number" && typeof low === "number" && typeof high === "number" ? { score, low, high } : null;
}

/** Five estimates with how unsure they are: an interval first, a point second. */
export function Traits({ ocean, of }: { ocean: unknown; of: string }) {
  const { t } = useLanguage();
  const traitName = useTraitName();
  return (
    <div className="stack-s">
      <p className="faint">{t("trait.hypothesis")}</p>
      <dl className="traits">
        {TRAITS.map((trait) => {
          const estimate = estimateOf(ocean, trait);
          return (
            estimate !== null && (
              <div key={trait}>
                <dt>{traitName(trait)}</dt>
                <dd>
                  <span className="trait-track" aria-hidden="true">
                    <span
                      className="trait-range"
                      style={{ left: `${estimate.low}%`, width: `${estimate.high - estimate.low}%` }}
                    />
                    <span className="trait-point" style={{ left: `${estimate.score}%` }} />
                  </span>
                  <span className="trait-numbers">
                    <Quantity value={estimate.score} unit="count" of={`${of}.${trait}.score`} />{" "}
                    <span className="faint">
                      <Quantity value={estimate.low} unit="count" of={`${of}.${trait}.low`} />–
                      <Quantity value={estimate.high} unit="count" of={`${of}.${trait}.high`} />
                    </span>
                  </span>
                </dd>
              </div>
            )
          );
        })}
      </dl>
    </div>
  );
}
