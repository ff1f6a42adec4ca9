// Whether the fonts of this device have a picture for an emoji.

const TYPICAL = "\u{1f600}";
/** No character, in every version of Unicode. */
const NOTHING = "\u{1fffe}";
const TOLERANCE = 0.1;
const SIDE = 16;
const SLICE = 60;

/** @type {Promise<ReadonlySet<string>> | null} */
let known = null;

/**
 * Those that cannot be shown here, found out a few at a time.
 * @param {readonly string[]} emoji The same at each call.
 */
export function undrawn(emoji) {
  known ??= sorted(emoji);
  return known;
}

/** @param {readonly string[]} emoji @returns {Promise<ReadonlySet<string>>} */
async function sorted(emoji) {
  const canvas = document.createElement("canvas");
  canvas.width = SIDE;
  canvas.height = SIDE;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return new Set();
  const fonts = getComputedStyle(document.documentElement).getPropertyValue("--emoji") || "sans-serif";
  context.font = `${SIDE - 4}px ${fonts}`;
  const typical = context.measureText(TYPICAL).width;
  const box = pixels(context, NOTHING);
  /** @type {Set<string>} */
  const found = new Set();
  for (let start = 0; start < emoji.length; start += SLICE) {
    for (const one of emoji.slice(start, start + SLICE)) {
      // One that is drawn in parts is wider than the others; a missing one is the box that stands for nothing.
      const isWide = context.measureText(one).width > typical * (1 + TOLERANCE);
      if (isWide || pixels(context, one) === box) found.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  return found;
}

/** @param {CanvasRenderingContext2D} context @param {string} text */
function pixels(context, text) {
  context.clearRect(0, 0, SIDE, SIDE);
  context.fillText(text, 0, SIDE - 4);
  return context.getImageData(0, 0, SIDE, SIDE).data.join();
}
