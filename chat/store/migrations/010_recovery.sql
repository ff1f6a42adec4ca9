-- When accounts are to be erased; tokens of mails by address.

-- Accounts that are to be erased. The erasure itself is a durable job; this is what it goes by.
CREATE TABLE account_deletions (
    user_id          INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    due_at           INTEGER NOT NULL,
    reason_code      INTEGER NOT NULL,  -- administration.md, Scheduled deletion
    public_reason    TEXT,
    audit_log_reason TEXT,
    scheduled_by     INTEGER,           -- null: by the holder
    scheduled_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX account_deletions_by_due ON account_deletions (due_at);

-- Tokens are also looked for by the address that they are about, in the form under which addresses are compared.
ALTER TABLE email_tokens ADD COLUMN email_key TEXT;

-- What an account that is taken back had for a TOTP secret when it was lost.
ALTER TABLE email_tokens ADD COLUMN totp_hash BLOB;

CREATE INDEX email_tokens_by_email ON email_tokens (email_key, kind);
