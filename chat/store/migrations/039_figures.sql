-- What the server has measured of itself: a row for each minute of the last day and each quarter of an hour of the last
-- week. No name, id or address is in it.

CREATE TABLE figures (
    seconds        INTEGER NOT NULL,  -- that the row spans: 60 or 900
    at             INTEGER NOT NULL,  -- when it begins, in Unix milliseconds
    messages       INTEGER NOT NULL,
    requests       INTEGER NOT NULL,
    failures       INTEGER NOT NULL,  -- requests that were answered with a status of 500 and above
    latencies      TEXT    NOT NULL,  -- JSON: requests by their bucket of time (chat.store.administration.figures)
    online         INTEGER NOT NULL,  -- from here on the most at one time
    sessions       INTEGER NOT NULL,
    lag_us         INTEGER NOT NULL,
    memory_bytes   INTEGER NOT NULL,
    database_bytes INTEGER NOT NULL,
    upload_bytes   INTEGER NOT NULL,
    PRIMARY KEY (seconds, at)
) STRICT, WITHOUT ROWID;
