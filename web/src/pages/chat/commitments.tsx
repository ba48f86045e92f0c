import { answerOf, api } from "../../api/client";
import { useAction } from "../../api/resource";
import type { BlackboardDetail, CommitmentView } from "../../api/types";
import { Quantity, When } from "../../components/quantity";
import { Badge, Button, Empty, FailureNotice } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";

const OUTCOMES = ["kept", "partly", "missed", "dropped"] as const;

export function Commitments({ board, onChanged }: { board: BlackboardDetail; onChanged: () => void }) {
  const { t } = useLanguage();
  const settle = useAction(async (id: string, outcome: CommitmentView["outcome"]) => {
    await answerOf(
      api.POST("/api/blackboard/{team}/{user}/commitments/{commitment}/outcome", {
        params: { path: { team: board.team, user: board.user, commitment: id } },
        body: { outcome },
      }),
    );
    onChanged();
  });
  if (board.commitments.length === 0) {
    return (
      <Empty icon="check" title={t("commitments.none")}>
        {t("commitments.noneHint")}
      </Empty>
    );
  }
  const open = board.commitments.filter((commitment) => commitment.outcome === "open");
  const settled = board.commitments.filter((commitment) => commitment.outcome !== "open").reverse();
  return (
    <div className="stack">
      {settle.error !== null && <FailureNotice failure={settle.error} />}
      <ul className="stack-s">
        {[...open, ...settled].map((commitment) => (
          <CommitmentItem key={commitment.id} commitment={commitment} busy={settle.running} onSettle={settle.run} />
        ))}
      </ul>
    </div>
  );
}

function CommitmentItem({
  commitment,
  busy,
  onSettle,
}: {
  commitment: CommitmentView;
  busy: boolean;
  onSettle: (id: string, outcome: CommitmentView["outcome"]) => void;
}) {
  const { t } = useLanguage();
  const stateName = useStateName();
  return (
    <li className="commitment" data-commitment={commitment.id}>
      <p className="row row-apart">
        <span className="break">{commitment.what}</span>
        <Badge tone={agentStateTone(commitment.outcome)}>{stateName(commitment.outcome)}</Badge>
      </p>
      <p className="faint">
        {commitment.when !== "" && <>{commitment.when} · </>}
        {commitment.due !== null && (
          <>
            {t("commitments.due")} <When at={commitment.due} style="date" /> ·{" "}
          </>
        )}
        {t("commitments.predicted")}{" "}
        <Quantity value={commitment.p} unit="percent" of={`commitments.${commitment.id}.p`} />
      </p>
      <div className="row" role="group" aria-label={t("commitments.outcomeOf", { what: commitment.what })}>
        {commitment.outcome === "open" ? (
          OUTCOMES.map((outcome) => (
            <Button key={outcome} small disabled={busy} onClick={() => onSettle(commitment.id, outcome)}>
              {stateName(outcome)}
            </Button>
          ))
        ) : (
          <Button small look="quiet" disabled={busy} onClick={() => onSettle(commitment.id, "open")}>
            {t("commitments.reopen")}
          </Button>
        )}
      </div>
    </li>
  );
}
