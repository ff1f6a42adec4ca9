// Communities that one brings along from other programs: the upload, the dry run, what is to come, and how far it is.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

/** @param {Pick<Parts, "rest">} parts */
export function makeBroughtActs({ rest }) {
  return {
    /** Whether one may, and what one has brought. */
    all: () => rest.get("/imports"),
    /** @param {Id} id */
    one: (id) => rest.get(`/imports/${id}`),
    /**
     * @param {File} file
     * @param {(done: number) => void} progress
     * @param {AbortSignal} signal
     */
    upload: (file, progress, signal) =>
      rest.post("/imports", { query: { filename: file.name }, form: file, progress, signal }),
    /** @param {Id} id @param {{name: string, channels?: Id[], files: boolean}} wish Without channels all come. */
    start: (id, wish) => rest.post(`/imports/${id}/start`, { body: wish }),
    /** What came stays. @param {Id} id */
    cancel: (id) => rest.post(`/imports/${id}/cancel`),
    /** Takes out again what came. @param {Id} id */
    undo: (id) => rest.post(`/imports/${id}/undo`),
  };
}
