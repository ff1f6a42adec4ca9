// Signing in to the administration: the ordinary sign-in, kept for this tab.

import "./address.js";
import { isOfAdministration, keep } from "./admin_token.js";
import { offerToShowPasswords } from "./forms.js";
import { offerToSignIn } from "./login_form.js";
import { nextPath } from "./session.js";

const wanted = nextPath("/admin");
const next = isOfAdministration(wanted) ? wanted : "/admin";

offerToShowPasswords();
// The search stands in the fragment, which comes along without being sent to anybody.
offerToSignIn({ next, keeps: keep, done: () => location.replace(next + location.hash) });
