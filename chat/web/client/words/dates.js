// Moments, numbers and lists as the reader's language has them, in the reader's zone. Formats are made once a language.

import { locale } from "./catalogue.js";

/** @type {Map<string, any>} By name, each of its own kind: `made` gives back what its caller makes. */
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

/** @type {{hours: "h12" | "h23" | null}} null: as the reader's region has it */
const chosen = { hours: null };

/** @param {number} format The account's `time_format`: 0 as the region has it, 1 of twelve hours, 2 of twenty-four. */
export function useClock(format) {
  chosen.hours = format === 1 ? "h12" : format === 2 ? "h23" : null;
}

/** @param {number} at Unix milliseconds. */
export function clock(at) {
  return moment("clock", { hour: chosen.hours === "h12" ? "numeric" : "2-digit", minute: "2-digit" }).format(at);
}

/** "Monday, 30 November, 09:00". @param {number} at Unix milliseconds. */
export function dayAndClock(at) {
  const options = /** @type {const} */ ({ weekday: "long", day: "numeric", month: "long" });
  return moment("day and clock", { ...options, hour: "numeric", minute: "2-digit" }).format(at);
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

/** Names in a row, without an "and". @param {Iterable<string>} names */
export function rowOf(names) {
  return made("row", (language) => new Intl.ListFormat(language, { type: "unit", style: "short" })).format(names);
}

/** @param {number} value */
export function number(value) {
  return made("number", (language) => new Intl.NumberFormat(language)).format(value);
}

/**
 * "4 hours", "1 day".
 * @param {number} value
 * @param {"second" | "minute" | "hour" | "day"} unit
 */
export function duration(value, unit) {
  const options = /** @type {const} */ ({ style: "unit", unit, unitDisplay: "long" });
  return made(`duration ${unit}`, (language) => new Intl.NumberFormat(language, options)).format(value);
}

/**
 * @param {string} name
 * @param {Intl.DateTimeFormatOptions} options
 */
function moment(name, options) {
  const { hours } = chosen;
  const hourCycle = hours === null ? {} : { hourCycle: hours };
  return made(`${name} ${hours}`, (language) => new Intl.DateTimeFormat(language, { ...options, ...hourCycle }));
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
