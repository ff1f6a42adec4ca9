-- Commands of applications (interactions.md, Application commands).
CREATE TABLE application_commands (
    id             INTEGER PRIMARY KEY,
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    guild_id       INTEGER REFERENCES guilds (id) ON DELETE CASCADE,  -- NULL for a command of every place
    type           INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    body           TEXT    NOT NULL,  -- JSON: the rest of the command, as it is shown
    version        INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX application_commands_by_name
    ON application_commands (application_id, coalesce(guild_id, 0), type, name);

CREATE INDEX application_commands_of_guild ON application_commands (guild_id) WHERE guild_id IS NOT NULL;

-- How many commands an application has made in a day; guild_id 0 stands for those of every place.
CREATE TABLE application_command_days (
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    guild_id       INTEGER NOT NULL,  -- no reference: a day is over before that matters
    day            INTEGER NOT NULL,  -- days since 1970
    made           INTEGER NOT NULL,
    PRIMARY KEY (application_id, guild_id)
) STRICT, WITHOUT ROWID;

-- Who may use a command in a guild. A command_id that is the application's own id stands for all its commands.
CREATE TABLE application_command_permissions (
    guild_id       INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    command_id     INTEGER NOT NULL,
    permissions    TEXT    NOT NULL,  -- JSON: a list of {id, type, permission}
    PRIMARY KEY (guild_id, application_id, command_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX application_command_permissions_of_application ON application_command_permissions (application_id);

CREATE TRIGGER application_commands_take_their_permissions AFTER DELETE ON application_commands BEGIN
    DELETE FROM application_command_permissions
     WHERE application_id = old.application_id AND command_id = old.id;
END;
