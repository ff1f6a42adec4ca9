// How the client looks on this browser: kept here, put on the root of the page, where the style sheets read it.

/**
 * @typedef {object} Appearance
 * @property {"system" | "light" | "dark"} theme
 * @property {"airy" | "cosy" | "tight"} density
 * @property {number} scale Of text, in percent.
 * @property {boolean} isStill Without motion, whatever the device says.
 */

const KEY = "appearance";

/** @type {Readonly<Appearance>} */
export const PLAIN = Object.freeze({ theme: "system", density: "cosy", scale: 100, isStill: false });

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
export function applyAppearance({ theme, density, scale, isStill }) {
  const root = document.documentElement;
  root.dataset["density"] = density;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
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
