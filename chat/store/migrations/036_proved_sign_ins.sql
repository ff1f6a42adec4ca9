-- When it was proved whose a sign-in is (Unix milliseconds); of those that there are nothing is known.
ALTER TABLE auth_sessions ADD COLUMN proved_at INTEGER;
