// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { apiKey, loadError, logIn } from "../state/store";
import { Notice } from "./components";

/** Asks for an API key with the scope `read`. */
export function LoginForm() {
  const [key, setKey] = useState("");
  return (
    <Notice title="This lineage service requires a key">
      {apiKey.value !== "" && <p class="error">{loadError.value?.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") logIn(key.trim());
        }}
      >
        <label>
          API key{" "}
          <input
            type="password"
            name="key"
            autocomplete="off"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </label>{" "}
        <button type="submit">Log in</button>
      </form>
      <p>
        A key with the scope <code>read</code>: <code>LINEAGE_READ_KEY</code> in the credentials of the lab. It is kept
        until this tab is closed.
      </p>
    </Notice>
  );
}
