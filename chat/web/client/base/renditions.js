// Pictures as they are shown. The server redraws them at the sizes that are needed, in a format that every browser
// draws; what came is for saving it alone (media.md, Renditions).

import { fileAddress } from "./address.js";
import { keepsStill, showMoving } from "./appearance.js";

/**
 * @typedef {object} Picture
 * @property {string} address
 * @property {number} width Of what came, 0 where nobody knows.
 * @property {number} height
 * @property {boolean} isMoving
 */

const REDRAWN = /^\/media\/(?:attachments|external)\//;
const SIZES = [160, 240, 320, 480, 640, 1024, 1280, 1536, 2048, 3072, 4096];
const DENSITIES = [1, 2, 3];
const MOVING_MOST = 1024;
/** A server that has too much to draw says so; it is asked again after these times. */
const NEXT_TRIES_MS = [2000, 6000];
const IS_ANIMATED = 1 << 5;

/**
 * The picture in an attachment, or in a part of an embed.
 * @param {{url?: string | null, proxy_url?: string | null, width?: number, height?: number, flags?: number}} file
 * @returns {Picture}
 */
export function pictureOf(file) {
  return {
    address: fileAddress(file.proxy_url ?? file.url ?? ""),
    width: file.width ?? 0,
    height: file.height ?? 0,
    isMoving: ((file.flags ?? 0) & IS_ANIMATED) !== 0,
  };
}

/** The least size that the server makes with at least this many pixels. @param {number} pixels */
function sizeFor(pixels) {
  return SIZES.find((size) => size >= pixels) ?? /** @type {number} */ (SIZES.at(-1));
}

/**
 * The address of the picture with this many pixels on its longer side; never larger than the original.
 * @param {Picture} picture
 * @param {number} size One that the server makes.
 * @param {boolean} [moves] Whether it may.
 */
function rendition({ address, width, height }, size, moves = false) {
  const { pathname, search } = new URL(address, location.href);
  if (!REDRAWN.test(pathname)) return address;
  const query = new URLSearchParams(search);
  query.set("size", String(size));
  query.set("animated", String(moves));
  if (size < Math.max(width, height) || width === 0) query.set("format", "webp");
  return `${pathname}?${query}`;
}

/**
 * Show a picture in a place of a size, at the density of the screen. Where it cannot be had, `fail` is called, after
 * further tries: the server may have had too much to draw.
 * @param {HTMLImageElement} image
 * @param {Picture} picture
 * @param {{width: number, height: number}} place In CSS pixels, as far as there is room.
 * @param {() => void} fail
 */
export function show(image, picture, place, fail) {
  image.width = place.width;
  image.height = place.height;
  watch(image, fail);
  const longest = Math.max(place.width, place.height);
  const own = Math.max(picture.width, picture.height);
  if (picture.isMoving) {
    // One that moves costs much to redraw: it comes as it is, unless it is large.
    const most = own > 0 && own <= MOVING_MOST ? own : longest;
    const still = rendition(picture, sizeFor(longest * Math.min(2, devicePixelRatio)));
    showMoving(image, rendition(picture, sizeFor(most), true), still);
    return;
  }
  const sizes = [...new Set(DENSITIES.map((density) => sizeFor(longest * density)))];
  if (own > 0) {
    const useful = sizes.filter((_, index) => index === 0 || /** @type {number} */ (sizes[index - 1]) < own);
    const wide = (/** @type {number} */ size) => Math.round((picture.width * Math.min(size, own)) / own);
    // `auto`, where a browser knows it, is the room that there is.
    image.sizes = `auto, min(100vw, ${place.width}px)`;
    image.srcset = useful.map((size) => `${rendition(picture, size)} ${wide(size)}w`).join(", ");
  }
  image.src = rendition(picture, sizeFor(longest * Math.min(2, Math.ceil(devicePixelRatio))));
}

/**
 * Where a picture is found that is to fill the screen.
 * @param {Picture} picture
 * @param {boolean} [isLarger] Whether it is looked at closely.
 */
export function large(picture, isLarger = false) {
  const screen = Math.max(innerWidth, innerHeight) * devicePixelRatio;
  return rendition(picture, isLarger ? 4096 : Math.max(1024, sizeFor(screen)), picture.isMoving && !keepsStill());
}

/**
 * @param {HTMLImageElement} image
 * @param {() => void} fail
 */
export function watch(image, fail) {
  const left = [...NEXT_TRIES_MS];
  image.addEventListener("error", () => {
    const next = left.shift();
    if (next === undefined) return fail();
    setTimeout(() => {
      if (image.srcset) image.srcset = image.srcset;
      else image.src = image.src;
    }, next);
    return undefined;
  });
}
