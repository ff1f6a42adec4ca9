// What a guild looks like in a small place.

import { h } from "../../base/dom.js";
import { plainName } from "./people.js";

/**
 * The picture of a guild, or the first letters of its name.
 * @param {{id: string, icon: string | null, name?: string}} guild
 */
export function faceOf({ id, icon: hash, name = "" }) {
  if (!hash) {
    const words = plainName(name).split(/\s+/).slice(0, 2);
    return document.createTextNode(
      words
        .map((word) => [...word][0] ?? "")
        .join("")
        .toUpperCase(),
    );
  }
  const picture = h("img", { alt: "", width: "48", height: "48", decoding: "async" });
  picture.src = `/media/icons/${id}/${hash}.webp?size=96`;
  return picture;
}
