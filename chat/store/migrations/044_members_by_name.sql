-- The name by which lists order a member: its nick, else the account's global name, else its username, case-folded. The
-- beginning of a list is read from the index; before, the names of all members were folded and sorted for it. The
-- triggers keep it, however a row is written; `casefold` is a function of this program's connections
-- (chat.store.connections), since SQLite's own `lower` knows no letters beyond ASCII.
ALTER TABLE members ADD COLUMN name_key TEXT NOT NULL DEFAULT '';

UPDATE members
   SET name_key = casefold(coalesce(members.nick, users.global_name, users.username))
  FROM users WHERE users.id = members.user_id;

CREATE INDEX members_by_name ON members (guild_id, name_key, user_id);

CREATE TRIGGER member_named AFTER INSERT ON members BEGIN
    UPDATE members
       SET name_key = casefold(coalesce(new.nick, users.global_name, users.username))
      FROM users
     WHERE users.id = new.user_id AND members.guild_id = new.guild_id AND members.user_id = new.user_id;
END;

CREATE TRIGGER member_renamed AFTER UPDATE OF nick ON members WHEN new.nick IS NOT old.nick BEGIN
    UPDATE members
       SET name_key = casefold(coalesce(new.nick, users.global_name, users.username))
      FROM users
     WHERE users.id = new.user_id AND members.guild_id = new.guild_id AND members.user_id = new.user_id;
END;

CREATE TRIGGER account_renamed AFTER UPDATE OF global_name, username ON users
WHEN new.global_name IS NOT old.global_name OR new.username IS NOT old.username
BEGIN
    UPDATE members
       SET name_key = casefold(coalesce(new.global_name, new.username))
     WHERE user_id = new.id AND nick IS NULL;
END;
