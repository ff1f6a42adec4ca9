// What went wrong, as a sentence for the person.

import { ApiError } from "../../../static/api.js";
import { t } from "../../words/catalogue.js";

/**
 * @param {unknown} error
 * @returns {string}
 */
export function wordsOf(error) {
  if (!(error instanceof ApiError)) return t("fault.unknown");
  if (error.status === 0) return t("fault.no_answer");
  if (error.status === 403) return t("fault.forbidden");
  if (error.status === 429) return t("fault.too_often");
  if (error.status >= 500) return t("fault.server");
  const [field] = error.fields;
  return field?.["message"] ?? error.message;
}
