-- Which accounts are no longer what a credential of theirs was found to stand for: a row for each change, for the server
-- that remembers callers (chat.auth.remembered). The schema writes it, so that no way of changing an account, by this
-- process or another, is without it. The last thousand are kept; who has read less forgets everybody.

CREATE TABLE caller_changes (
    number  INTEGER PRIMARY KEY,  -- ascends by one: the newest row is never deleted
    user_id INTEGER NOT NULL      -- of any account that there was
) STRICT;

CREATE TRIGGER caller_changes_kept AFTER INSERT ON caller_changes BEGIN
    DELETE FROM caller_changes WHERE number <= NEW.number - 1000;
END;

CREATE TRIGGER caller_changed AFTER UPDATE ON users BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.id);
END;

CREATE TRIGGER caller_deleted AFTER DELETE ON users BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.id);
END;

CREATE TRIGGER caller_signed_out AFTER DELETE ON auth_sessions BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.user_id);
END;

CREATE TRIGGER caller_sign_in_changed AFTER UPDATE OF token_hash, user_id ON auth_sessions BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.user_id);
END;

CREATE TRIGGER caller_bot_changed AFTER UPDATE ON applications WHEN OLD.bot_user_id IS NOT NULL BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.bot_user_id);
END;

CREATE TRIGGER caller_bot_deleted AFTER DELETE ON applications WHEN OLD.bot_user_id IS NOT NULL BEGIN
    INSERT INTO caller_changes (user_id) VALUES (OLD.bot_user_id);
END;

CREATE TRIGGER caller_erasure_ordered AFTER INSERT ON account_deletions BEGIN
    INSERT INTO caller_changes (user_id) VALUES (NEW.user_id);
END;

CREATE TRIGGER caller_erasure_changed AFTER UPDATE ON account_deletions BEGIN
    INSERT INTO caller_changes (user_id) VALUES (NEW.user_id);
END;
