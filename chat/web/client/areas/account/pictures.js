// Pictures of the account: cut to their shape in the browser, as a data address, so that a photograph need not travel
// whole. A moving picture goes as it is.

import { dataAddress } from "../../base/data_address.js";

const MOVING = new Set(["image/gif", "image/apng", "image/webp"]);
const QUALITY = 0.9;
const MOVING_BYTES_MAXIMUM = 8_000_000;

/**
 * @param {File} file
 * @param {{width: number, height: number}} shape
 * @returns {Promise<string>} a data address
 * @throws {DOMException} for what is no picture.
 */
export async function cutPicture(file, { width, height }) {
  const bitmap = await createImageBitmap(file);
  if (MOVING.has(file.type) && file.size <= MOVING_BYTES_MAXIMUM) return dataAddress(file);
  const scale = Math.min(bitmap.width / width, bitmap.height / height);
  const [across, down] = [width * scale, height * scale];
  const size = Math.min(1, scale);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * size));
  canvas.height = Math.max(1, Math.round(height * size));
  const left = (bitmap.width - across) / 2;
  const top = (bitmap.height - down) / 2;
  canvas.getContext("2d")?.drawImage(bitmap, left, top, across, down, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL(file.type === "image/png" ? "image/png" : "image/jpeg", QUALITY);
}
