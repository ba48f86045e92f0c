import { useState, type KeyboardEvent } from "react";

import { Button } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

/** Where a person writes; what can not be done now is not offered. */
export function Composer({
  busy,
  onSend,
  onNewSession,
  onStop,
}: {
  busy: boolean;
  /** Calls `sent` when the message is taken: until then what was typed stays. */
  onSend: (message: string, sent: () => void) => void;
  onNewSession: (() => void) | null;
  onStop: (() => void) | null;
}) {
  const { t } = useLanguage();
  const [text, setText] = useState("");
  const send = () => {
    if (text.trim() === "" || busy) return;
    onSend(text, () => setText(""));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label={t("chat.message")}
        placeholder={t("chat.placeholder")}
        rows={2}
        maxLength={100_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="row row-apart">
        <span className="faint">{t("chat.keys")}</span>
        <span className="row">
          {onNewSession !== null && (
            <Button small look="quiet" icon="plus" onClick={onNewSession}>
              {t("chat.newSession")}
            </Button>
          )}
          {onStop !== null && (
            <Button small look="danger" icon="stop" onClick={onStop}>
              {t("chat.stop")}
            </Button>
          )}
          <Button type="submit" look="primary" icon="send" busy={busy} disabled={text.trim() === ""}>
            {t("chat.send")}
          </Button>
        </span>
      </div>
    </form>
  );
}
