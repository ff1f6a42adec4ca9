// Moments, numbers and lists as the reader's language has them, in the reader's zone. Formats are made once a language.

import { locale } from "./catalogue.js";

/** @type {Map<string, any>} */
const FORMATS = new Map();

/** @type {readonly [Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** @param {number} at Unix milliseconds. */
export function clock(at) {
  return moment("clock", { hour: "2-digit", minute: "2-digit" }).format(at);
}

/** @param {number} at Unix milliseconds. */
export function dayLine(at) {
  return moment("day", { dateStyle: "long" }).format(at);
}

/** @param {number} at Unix milliseconds. */
export function full(at) {
  return moment("full", { dateStyle: "full", timeStyle: "short" }).format(at);
}

/**
 * "in 3 days", "2 minutes ago".
 * @param {number} at Unix milliseconds.
 * @param {number} now Unix milliseconds.
 */
export function relative(at, now) {
  const format = made("relative", (language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  }
  return format.format(seconds, "second");
}

/** @param {Iterable<string>} entries */
export function listOf(entries) {
  return made("list", (language) => new Intl.ListFormat(language)).format(entries);
}

/** @param {number} value */
export function number(value) {
  return made("number", (language) => new Intl.NumberFormat(language)).format(value);
}

/**
 * @param {string} name
 * @param {Intl.DateTimeFormatOptions} options
 */
function moment(name, options) {
  return made(name, (language) => new Intl.DateTimeFormat(language, options));
}

/**
 * @template Format
 * @param {string} name
 * @param {(language: string) => Format} make
 * @returns {Format}
 */
function made(name, make) {
  const key = `${locale()} ${name}`;
  const format = FORMATS.get(key) ?? make(locale());
  FORMATS.set(key, format);
  return format;
}
