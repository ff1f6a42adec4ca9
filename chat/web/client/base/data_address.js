// A file as an address, as the API takes pictures.

/**
 * @param {File} file
 * @returns {Promise<string>} `data:`, base64; rejects where the file cannot be read.
 */
export function dataAddress(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
