-- What people buy in app stores.

CREATE TABLE store_purchases (
    id                    INTEGER PRIMARY KEY,
    user_id               INTEGER REFERENCES users (id) ON DELETE SET NULL,  -- null: linked to nobody
    provider              TEXT    NOT NULL,  -- store_a, store_b
    kind                  TEXT    NOT NULL,  -- subscription, gift
    slot                  TEXT    NOT NULL,
    environment           TEXT    NOT NULL,  -- production, sandbox
    app_id                TEXT    NOT NULL,
    product_id            TEXT    NOT NULL,
    base_plan_id          TEXT,
    purchase_token        TEXT    NOT NULL,  -- by which its store knows it; shown to nobody
    account_token         TEXT,              -- by which its store knows the buyer; shown to nobody
    latest_transaction_id TEXT,
    ownership_type        TEXT,
    state                 TEXT    NOT NULL,
    store_state           TEXT,
    expires_at            INTEGER,
    grace_ends_at         INTEGER,
    auto_renew            INTEGER,
    started_at            INTEGER,
    purchased_at          INTEGER,
    revoked_at            INTEGER,
    revocation_reason     TEXT,
    superseded            INTEGER NOT NULL,
    acknowledged          INTEGER NOT NULL,
    gift_code             TEXT,
    bound_at              INTEGER,           -- linked to the account
    last_event_at         INTEGER,           -- its store's last word of its own accord
    synced_at             INTEGER,           -- last read from its store
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    UNIQUE (provider, environment, purchase_token)
) STRICT;

CREATE INDEX store_purchases_of_user ON store_purchases (user_id, id);
