// Taking an account back: the old address, a new password, and nobody else signed in.

import "./page.js";
import { takePassword } from "./mailed_password.js";

takePassword("revert-form", "/v1/auth/email-revert");
