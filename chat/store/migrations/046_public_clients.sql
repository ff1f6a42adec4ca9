-- Whether an application says that it can keep no secret, and so redeems codes with PKCE alone (RFC 6749 2.1).
ALTER TABLE applications ADD COLUMN public_client INTEGER NOT NULL DEFAULT 0;
