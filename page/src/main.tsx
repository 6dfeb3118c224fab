// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { start } from "./state/store";
import "./styles.css";
import { App } from "./view/App";

start();
render(<App />, document.getElementById("page")!);
