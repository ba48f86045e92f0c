import { useEffect, useId, useRef, type ReactNode } from "react";

import { useLanguage } from "../i18n/language";
import { IconButton } from "./ui";

/** A question over the page. Escape and the backdrop close it; the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { t } = useLanguage();
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="dialog-body">
        <header className="card-head">
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label={t("common.close")} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
