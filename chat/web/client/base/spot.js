// Where a menu stands that was asked for.

/**
 * At the pointer; asked for by a key, at what has the focus.
 * @param {MouseEvent} event
 * @param {Element} element
 */
export function spotOf(event, element) {
  const isByKey = event instanceof PointerEvent && event.pointerType === "";
  return isByKey || event.clientX + event.clientY === 0 ? element : { x: event.clientX, y: event.clientY };
}
