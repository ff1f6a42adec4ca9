// The settings of the account: which pages there are.

import { makeSettings } from "../../views/settings/frame.js";
import { t } from "../../words/catalogue.js";
import { makeAppearance } from "./appearance.js";
import { makeLanguage } from "./language.js";
import { makeLeaving } from "./leaving.js";
import { makeNotifications } from "./notifications.js";
import { makePrivacy } from "./privacy.js";
import { makeProfile } from "./profile.js";
import { makeSecurity } from "./security.js";
import { makeSessions } from "./sessions.js";
import { makeVoiceSettings } from "./voice.js";

/** @typedef {import("../../views/shell/app.js").App} App */

export const PATH = "/channels/@me/settings";

/** @type {WeakMap<App, import("../../views/settings/frame.js").Settings>} what is open already */
const OPEN = new WeakMap();

/** @param {{app: App, page?: string}} parts */
export function open({ app, page = "" }) {
  const known = OPEN.get(app);
  if (known) return known.show(page);
  const voice = { key: "voice", label: t("account.voice"), icon: "microphone", make: () => makeVoiceSettings(app) };
  const settings = makeSettings({
    app,
    foot: [{ label: t("sessions.sign_out"), icon: "leave", run: () => app.open("sign_out") }],
    title: t("account.title"),
    path: PATH,
    pages: [
      { key: "profile", label: t("account.profile"), icon: "member", make: () => makeProfile(app) },
      { key: "appearance", label: t("account.appearance"), icon: "palette", make: () => makeAppearance(app) },
      { key: "language", label: t("account.language"), icon: "globe", make: () => makeLanguage(app) },
      { key: "notifications", label: t("account.notifications"), icon: "bell", make: () => makeNotifications(app) },
      ...(app.voice.isThere ? [voice] : []),
      { key: "privacy", label: t("account.privacy"), icon: "eye", make: () => makePrivacy(app) },
      { key: "sessions", label: t("account.sessions"), icon: "list", make: () => makeSessions(app) },
      { key: "security", label: t("account.security"), icon: "lock", make: () => makeSecurity(app) },
      { key: "leaving", label: t("account.leaving"), icon: "leave", make: () => makeLeaving(app) },
    ],
  });
  OPEN.set(app, settings);
  app.cover({
    element: settings.element,
    stop() {
      OPEN.delete(app);
      settings.stop();
    },
  });
  settings.show(page);
  return undefined;
}
