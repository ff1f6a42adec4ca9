-- Second factors, OAuth2 grants, tickets, and what else proves who somebody is.
--
-- Secrets are there as SHA-256, except those that have to be read again (TOTP secrets, backup codes), which are sealed
-- with the instance's key (`chat.auth.keys`): a stolen database signs nobody in.

-- One-time and short-lived things: login tickets, WebAuthn challenges, authorisation codes, passkey bridges, single
-- sign-on states, IP authorisations. What each kind keeps in `body` is its owner's business.
CREATE TABLE tickets (
    secret_hash BLOB    PRIMARY KEY,  -- SHA-256 of what the client holds
    kind        TEXT    NOT NULL,
    user_id     INTEGER REFERENCES users (id) ON DELETE CASCADE,
    body        TEXT    NOT NULL DEFAULT '{}',  -- json
    attempts    INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tickets_by_expiry ON tickets (expires_at);

CREATE INDEX tickets_by_user ON tickets (user_id, kind);

CREATE TABLE backup_codes (
    user_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    sealed_code BLOB    NOT NULL,
    consumed_at INTEGER,
    PRIMARY KEY (user_id, position)
) STRICT, WITHOUT ROWID;

-- TOTP codes that were accepted: none counts twice while its step lasts.
CREATE TABLE used_totp_codes (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    step    INTEGER NOT NULL,
    PRIMARY KEY (user_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE webauthn_credentials (
    credential_id BLOB    PRIMARY KEY,
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    public_key    BLOB    NOT NULL,
    sign_count    INTEGER NOT NULL,
    aaguid        TEXT    NOT NULL,
    transports    TEXT    NOT NULL DEFAULT '[]',  -- json
    backed_up     INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    replaced_by   BLOB    REFERENCES webauthn_credentials (credential_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX webauthn_credentials_by_user ON webauthn_credentials (user_id);

CREATE INDEX webauthn_credentials_by_successor ON webauthn_credentials (replaced_by);

-- What an account has granted an application. Its tokens go with it; so do they all when one is used twice. No foreign
-- key leads to the application, since the built-in one has no row; a trigger does what it would.
CREATE TABLE oauth2_grants (
    id             INTEGER PRIMARY KEY,
    application_id INTEGER NOT NULL,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scopes         TEXT    NOT NULL,  -- json, in registry order
    public         INTEGER NOT NULL,  -- 1: made without the client's secret, so refreshed without it
    code_hash      BLOB    NOT NULL UNIQUE,  -- of the authorisation code it was made from, to know a second use
    created_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX oauth2_grants_by_user ON oauth2_grants (user_id, application_id);

CREATE INDEX oauth2_grants_by_application ON oauth2_grants (application_id);

CREATE TRIGGER oauth2_grants_of_application AFTER DELETE ON applications
BEGIN
    DELETE FROM oauth2_grants WHERE application_id = OLD.id;
END;

CREATE TABLE oauth2_tokens (
    token_hash BLOB    PRIMARY KEY,
    grant_id   INTEGER NOT NULL REFERENCES oauth2_grants (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL CHECK (kind IN ('access', 'refresh')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER  -- of a refresh token: when it was exchanged; presented again, the grant ends
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth2_tokens_by_grant ON oauth2_tokens (grant_id);

CREATE INDEX oauth2_tokens_by_expiry ON oauth2_tokens (expires_at);

CREATE TABLE authorized_addresses (
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network       TEXT    NOT NULL,  -- IPv4 exact, IPv6 /64
    authorized_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_kits (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    code_hash  BLOB    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sso_identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX sso_identities_by_user ON sso_identities (user_id);

CREATE TABLE address_bans (
    network    TEXT    PRIMARY KEY,  -- IPv4 exact, IPv6 /64
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Mail on its way: written with the change that it tells of, gone once the SMTP server has it. What it says is sealed,
-- because its link carries a secret. Numbers are never used twice: the Message-ID is made from them.
CREATE TABLE mail_outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient       TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    sealed_letter   BLOB    NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX mail_outbox_by_due ON mail_outbox (next_attempt_at);

-- Registrations that wait for an administrator.
CREATE TABLE pending_registrations (
    user_id     INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    address     TEXT,
    created_at  INTEGER NOT NULL,
    rejected_at INTEGER
) STRICT;
