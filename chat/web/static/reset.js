// A new password for who has forgotten the old one.

import "./page.js";
import { takePassword } from "./mailed_password.js";

takePassword("reset-form", "/v1/auth/reset");
