// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { restoreLogin, startLiveUpdates } from "./state/store";
import "./styles.css";
import { App } from "./view/App";

restoreLogin();
startLiveUpdates();
render(<App />, document.getElementById("page")!);
