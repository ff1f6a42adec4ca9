// How the client looks on this browser: kept here, put on the root of the page, where the style sheets read it.

/**
 * @typedef {"system" | "light" | "sand" | "dark" | "dusk" | "coal" | "contrast"} Theme As in css/themes.css.
 * @typedef {"instance" | "teal" | "green" | "blue" | "violet" | "pink" | "red" | "amber"} Accent
 *
 * @typedef {object} Appearance
 * @property {Theme} theme
 * @property {Accent} accent `instance` is the operator's, which is teal where the operator chose none.
 * @property {"airy" | "cosy" | "tight"} density
 * @property {number} scale Of text, in percent.
 * @property {boolean} isStill Without motion, whatever the device says.
 */

const KEY = "appearance";

/** @type {Readonly<Appearance>} */
export const PLAIN = Object.freeze({
  theme: "system",
  accent: "instance",
  density: "cosy",
  scale: 100,
  isStill: false,
});

/**
 * What the account keeps of a theme, for other browsers and programs (user settings, `theme`).
 * @type {Readonly<Record<Theme, import("wire").UserSettings["theme"]>>}
 */
export const ACCOUNT_THEMES = {
  system: "system",
  light: "light",
  sand: "light",
  dark: "dark",
  dusk: "dark_legacy",
  coal: "coal",
  contrast: "system",
};

/**
 * The theme that an account keeps.
 * @param {string} kept
 * @returns {Theme}
 */
export function themeOf(kept) {
  const found = Object.entries(ACCOUNT_THEMES).find(([, one]) => one === kept);
  return /** @type {Theme} */ (found?.[0] ?? "system");
}

export const SCALES = Object.freeze({ least: 80, most: 150, step: 10 });

/** What this browser keeps; null where nothing was chosen yet. @returns {Appearance | null} */
export function keptAppearance() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return kept === null ? null : { ...PLAIN, ...kept };
  } catch {
    return null;
  }
}

/** @param {Appearance} appearance */
export function keepAppearance(appearance) {
  try {
    localStorage.setItem(KEY, JSON.stringify(appearance));
  } catch {
    // A browser that keeps nothing still shows it until the page is left.
  }
  applyAppearance(appearance);
}

/** @param {Appearance} appearance */
export function applyAppearance({ theme, accent, density, scale, isStill }) {
  const root = document.documentElement;
  root.dataset["density"] = density;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
  if (accent === "instance") delete root.dataset["accent"];
  else root.dataset["accent"] = accent;
  if (isStill) root.dataset["motion"] = "reduced";
  else delete root.dataset["motion"];
  root.style.setProperty("--text-scale", String(Math.min(SCALES.most, Math.max(SCALES.least, scale)) / 100));
}

/** Whether things are to keep still, by the person's choice here or on the device. */
export function keepsStill() {
  return (
    document.documentElement.dataset["motion"] === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches
  );
}

/**
 * Show a picture that moves; where things keep still, only while it is pointed at.
 * @param {HTMLElement} image
 * @param {string} moving
 * @param {string} still
 */
export function showMoving(image, moving, still) {
  if (!keepsStill()) return image.setAttribute("src", moving);
  image.setAttribute("src", still);
  image.addEventListener("pointerenter", () => image.setAttribute("src", moving));
  image.addEventListener("pointerleave", () => image.setAttribute("src", still));
  return undefined;
}
