-- Background work that outlives the server.

CREATE TABLE jobs (
    id                   INTEGER PRIMARY KEY,
    task_type            TEXT NOT NULL,     -- chat.registries.jobs.JobType
    status               TEXT NOT NULL,     -- chat.registries.jobs.JobStatus
    subject_id           INTEGER,           -- the account that it is about
    requested_by_user_id INTEGER,
    audit_log_reason     TEXT,
    payload              TEXT NOT NULL,     -- JSON: what was asked for; never changes
    state                TEXT NOT NULL,     -- JSON: how far it has come, for whoever goes on with it
    progress_current     INTEGER NOT NULL,
    progress_total       INTEGER,
    progress_message     TEXT,
    result               TEXT,              -- JSON
    error_message        TEXT,
    attempts             INTEGER NOT NULL,
    cancel_requested     INTEGER NOT NULL,
    run_at               INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    started_at           INTEGER,
    changed_at           INTEGER NOT NULL,
    completed_at         INTEGER
) STRICT;

CREATE INDEX jobs_to_do ON jobs (run_at, id) WHERE status = 'pending';

CREATE INDEX jobs_by_status ON jobs (status, id);

CREATE INDEX jobs_done ON jobs (completed_at) WHERE completed_at IS NOT NULL;

CREATE INDEX jobs_about ON jobs (subject_id, task_type, id) WHERE subject_id IS NOT NULL;
