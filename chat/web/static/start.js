// The front page: one way in for strangers, another for who is signed in.

import "./page.js";
import { byId } from "./dom.js";
import { current } from "./session.js";

const session = current();
byId("for-strangers").hidden = session !== null;
byId("for-members").hidden = session === null;
byId("member-name").textContent = session?.name || "you";
