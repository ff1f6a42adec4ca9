-- Exports of accounts and guilds.

CREATE TABLE archives (
    id                      INTEGER PRIMARY KEY,
    subject_type            TEXT    NOT NULL,  -- chat.registries.jobs.ArchiveSubject
    subject_id              INTEGER NOT NULL,  -- an account or a guild, which may be gone
    requested_by            INTEGER NOT NULL,
    requested_at            INTEGER NOT NULL,
    include_attachments     INTEGER NOT NULL,
    started_at              INTEGER,
    completed_at            INTEGER,
    failed_at               INTEGER,
    file_size               INTEGER,           -- bytes; null unless there is a file
    progress_percent        INTEGER NOT NULL,
    progress_step           TEXT,
    error_message           TEXT,
    download_url_expires_at INTEGER,           -- of the address handed out last
    expires_at              INTEGER NOT NULL
) STRICT;

CREATE INDEX archives_of_subject ON archives (subject_type, subject_id, id);

CREATE INDEX archives_by_requester ON archives (requested_by, id);

CREATE INDEX archives_by_expiry ON archives (expires_at);

-- What somebody reacted with is found without looking at everybody's reactions.
CREATE INDEX IF NOT EXISTS message_reaction_users_of_user ON message_reaction_users (user_id, reaction_id);
