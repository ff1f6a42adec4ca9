-- Accounts are found by the words of their names.
--
-- Triggers keep it: it is never behind, and accounts change seldom. A later migration that rebuilds `users` has to
-- create the triggers anew.

-- `rowid` is the account's id.
CREATE VIRTUAL TABLE account_search USING fts5 (
    tag, global_name, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

INSERT INTO account_search (rowid, tag, global_name)
SELECT id, username || ' ' || printf('%04d', discriminator), global_name FROM users;

CREATE TRIGGER account_search_insert AFTER INSERT ON users
BEGIN
    INSERT INTO account_search (rowid, tag, global_name)
    VALUES (new.id, new.username || ' ' || printf('%04d', new.discriminator), new.global_name);
END;

CREATE TRIGGER account_search_update AFTER UPDATE ON users
WHEN old.username IS NOT new.username
  OR old.discriminator IS NOT new.discriminator
  OR old.global_name IS NOT new.global_name
BEGIN
    DELETE FROM account_search WHERE rowid = old.id;
    INSERT INTO account_search (rowid, tag, global_name)
    VALUES (new.id, new.username || ' ' || printf('%04d', new.discriminator), new.global_name);
END;

CREATE TRIGGER account_search_delete AFTER DELETE ON users
BEGIN
    DELETE FROM account_search WHERE rowid = old.id;
END;
