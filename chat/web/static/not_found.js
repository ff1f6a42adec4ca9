// Nothing but what every page does.

import "./page.js";
