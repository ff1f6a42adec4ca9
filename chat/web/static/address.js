// The page under the name that passkeys need, so that sessions lie in one place; the fragment goes along. The page that
// is left does nothing more.

import { underItsName } from "../client/base/address.js";

const named = underItsName();
if (named !== null) {
  location.replace(named);
  await new Promise(() => {});
}
