import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useAction } from "../../api/resource";
import type { BlackboardDetail, Correction } from "../../api/types";
import { Icon } from "../../components/icon";
import { Button, FailureNotice, Notice } from "../../components/ui";
import type { Message } from "../../i18n/catalogs";
import { useLanguage } from "../../i18n/language";
import { EraseDialog } from "./erase_dialog";
import { QuestionnaireDialog } from "./questionnaire";
import { TRAITS, useTraitName } from "./traits";

interface OwnDataProps {
  team: string;
  user: string;
  board: BlackboardDetail | null;
  onChanged: () => void;
}

/** A person's own data: take it away, correct it, have parts forgotten, erase it. */
export function OwnData({ team, user, board, onChanged }: OwnDataProps) {
  const { t } = useLanguage();
  const [open, setOpen] = useState<"questionnaire" | "erase" | null>(null);
  const exported = `/api/blackboard/${encodeURIComponent(team)}/${encodeURIComponent(user)}/export`;
  const kept = board !== null && (board.sessions.length > 0 || Object.keys(board.sections).length > 0);
  return (
    <div className="stack">
      <div className="row">
        {kept && (
          <a className="button button-plain" href={exported} download={`repertory-${team}-${user}.json`}>
            <Icon name="download" size={18} /> {t("own.export")}
          </a>
        )}
        <Button icon="pencil" onClick={() => setOpen("questionnaire")}>
          {t("own.questionnaire")}
        </Button>
      </div>
      {kept && (
        <>
          <CorrectTrait team={team} user={user} onChanged={onChanged} />
          <CorrectFact team={team} user={user} onChanged={onChanged} />
          <ForgetWords team={team} user={user} onChanged={onChanged} />
          <div>
            <Button look="danger" icon="trash" onClick={() => setOpen("erase")}>
              {t("own.erase")}
            </Button>
          </div>
        </>
      )}
      {open === "questionnaire" && (
        <QuestionnaireDialog team={team} user={user} onClose={() => setOpen(null)} onChanged={onChanged} />
      )}
      {open === "erase" && <EraseDialog team={team} user={user} onClose={() => setOpen(null)} onChanged={onChanged} />}
    </div>
  );
}

interface ActProps {
  team: string;
  user: string;
  onChanged: () => void;
}

/** Puts a correction on the blackboard, and says when it is there. */
function useCorrection({ team, user, onChanged }: ActProps) {
  const [done, setDone] = useState(false);
  const correct = useAction(async (body: Correction) => {
    await answerOf(api.POST("/api/blackboard/{team}/{user}/corrections", { params: { path: { team, user } }, body }));
    setDone(true);
    onChanged();
  });
  return { correct, done, setDone };
}

function CorrectTrait(act: ActProps) {
  const { t } = useLanguage();
  const traitName = useTraitName();
  const [trait, setTrait] = useState<(typeof TRAITS)[number]>("openness");
  const [score, setScore] = useState(50);
  const { correct, done, setDone } = useCorrection(act);
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        correct.run({ traits: { [trait]: score } });
      }}
    >
      <h3>{t("own.correctTrait")}</h3>
      <p className="faint">{t("own.correctHint")}</p>
      <div className="row">
        <select
          aria-label={t("own.trait")}
          value={trait}
          onChange={(event) => {
            setTrait(event.target.value as (typeof TRAITS)[number]);
            setDone(false);
          }}
        >
          {TRAITS.map((name) => (
            <option key={name} value={name}>
              {traitName(name)}
            </option>
          ))}
        </select>
        <input
          type="range"
          min={0}
          max={100}
          value={score}
          aria-label={t("own.score")}
          onChange={(event) => {
            setScore(Number(event.target.value));
            setDone(false);
          }}
        />
        <output className="mono">{score}</output>
        <Button type="submit" small busy={correct.running}>
          {t("own.correct")}
        </Button>
        <Button
          small
          look="quiet"
          disabled={correct.running}
          onClick={() => correct.run({ traits: { [trait]: null } })}
        >
          {t("own.withdraw")}
        </Button>
      </div>
      {correct.error !== null && <FailureNotice failure={correct.error} />}
      {done && (
        <Notice tone="good" icon="check">
          {t("own.corrected")}
        </Notice>
      )}
    </form>
  );
}

const FACTS = { goal: "own.goal", priority: "own.priority", growth_edge: "own.growthEdge" } as const satisfies Record<
  string,
  Message
>;

function CorrectFact(act: ActProps) {
  const { t } = useLanguage();
  const [fact, setFact] = useState<keyof typeof FACTS>("goal");
  const [text, setText] = useState("");
  const { correct, done, setDone } = useCorrection(act);
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        correct.run({ facts: { [fact]: text } });
      }}
    >
      <h3>{t("own.correctFact")}</h3>
      <p className="faint">{t("own.factHint")}</p>
      <div className="row">
        <select
          aria-label={t("own.fact")}
          value={fact}
          onChange={(event) => setFact(event.target.value as keyof typeof FACTS)}
        >
          {Object.entries(FACTS).map(([name, message]) => (
            <option key={name} value={name}>
              {t(message)}
            </option>
          ))}
        </select>
        <input
          className="grow"
          aria-label={t("own.factText")}
          value={text}
          maxLength={500}
          onChange={(event) => {
            setText(event.target.value);
            setDone(false);
          }}
        />
        <Button type="submit" small busy={correct.running}>
          {t("own.correct")}
        </Button>
      </div>
      {correct.error !== null && <FailureNotice failure={correct.error} />}
      {done && (
        <Notice tone="good" icon="check">
          {t("own.corrected")}
        </Notice>
      )}
    </form>
  );
}

function ForgetWords({ team, user, onChanged }: ActProps) {
  const { t } = useLanguage();
  const [what, setWhat] = useState("");
  const [found, setFound] = useState<Record<string, string> | null>(null);
  const [done, setDone] = useState(false);
  const forget = useAction(async (confirm: boolean) => {
    const answer = await answerOf(
      api.POST("/api/blackboard/{team}/{user}/forget", { params: { path: { team, user } }, body: { what, confirm } }),
    );
    if (answer.forgotten) {
      setFound(null);
      setWhat("");
      setDone(true);
      onChanged();
    } else {
      setFound(answer.messages);
    }
  });
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        setDone(false);
        forget.run(false);
      }}
    >
      <h3>{t("own.forget")}</h3>
      <p className="faint">{t("own.forgetHint")}</p>
      <div className="row">
        <input
          className="grow"
          aria-label={t("own.forgetWhat")}
          value={what}
          maxLength={2000}
          onChange={(event) => {
            setWhat(event.target.value);
            setFound(null);
          }}
        />
        <Button type="submit" small busy={forget.running} disabled={what.trim() === ""}>
          {t("own.find")}
        </Button>
      </div>
      {forget.error !== null && <FailureNotice failure={forget.error} />}
      {found !== null && (
        <div className="stack-s">
          <ul className="why-evidence">
            {Object.entries(found).map(([message, text]) => (
              <li key={message}>
                <span className="mono faint">{message}</span> {text}
              </li>
            ))}
          </ul>
          <div>
            <Button small look="danger" icon="trash" busy={forget.running} onClick={() => forget.run(true)}>
              {t("own.forgetThese", { count: Object.keys(found).length })}
            </Button>
          </div>
        </div>
      )}
      {done && (
        <Notice tone="good" icon="check">
          {t("own.forgotten")}
        </Notice>
      )}
    </form>
  );
}
