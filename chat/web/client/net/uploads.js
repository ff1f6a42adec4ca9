// A form or a file that goes up with its progress, which fetch does not tell.

import { ApiError, refusal, withPatience } from "../../static/api.js";

/**
 * @param {string} method
 * @param {string} address
 * @param {FormData | Blob} form
 * @param {{token: string, progress?: (done: number) => void, signal?: AbortSignal}} options
 * @returns {Promise<{data: unknown, sudo: string | null}>}
 */
export function upload(method, address, form, { token, progress = () => {}, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Authorization", token);
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    const lost = () => reject(new ApiError(0, "NO_ANSWER", "The server could not be reached."));
    request.addEventListener("error", lost);
    request.addEventListener("abort", () => reject(signal?.reason));
    request.addEventListener("load", () => {
      const data = readAnswer(request.responseText);
      if (request.status < 300) return resolve({ data, sudo: null });
      const patience = request.getResponseHeader("Retry-After");
      const headers = new Headers(patience === null ? {} : { "Retry-After": patience });
      return reject(refusal(request.status, withPatience(data ?? {}, headers)));
    });
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    if (signal?.aborted) return reject(signal.reason);
    return request.send(form);
  });
}

/** @param {string} text */
function readAnswer(text) {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
