// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";

const KEYS: readonly [string, string][] = [
  ["/", "Search; without a text: favorites, recent nodes and failed jobs"],
  ["Tab, arrow keys", "Move between cards; left and right follow the edges"],
  ["Enter", "Open a card, or expand a group"],
  ["Escape", "Close the details"],
  ["n, p", "Next and previous change of a comparison"],
  ["?", "Show or close this help"],
];

/** Dialog with the keys of the page, opened by `?` or its button. */
export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input:not([type=range]), textarea, select");
      if (event.key !== "?" || typing) return;
      if (dialog.current?.open) dialog.current.close();
      else dialog.current?.showModal();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button type="button" class="help" aria-label="Keys" onClick={() => dialog.current?.showModal()}>
        ?
      </button>
      <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {KEYS.map(([key, action]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}
