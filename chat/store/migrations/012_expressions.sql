-- Emojis and stickers; the images of a guild go with it.

-- The image of an expression is an asset of the same kind, whose owner is the expression. It outlives its row, for
-- messages go on showing it; only a purge takes it away.
CREATE TABLE expressions (
    id          INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,  -- emojis or stickers
    guild_id    INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    user_id     INTEGER NOT NULL,  -- who made it
    name        TEXT    NOT NULL,
    animated    INTEGER NOT NULL,
    description TEXT    NOT NULL,  -- of stickers
    tags        TEXT    NOT NULL   -- of stickers, a JSON list
) STRICT;

CREATE INDEX expressions_of_guild ON expressions (guild_id, id);

CREATE TRIGGER guild_images_gone AFTER DELETE ON guilds
BEGIN
    DELETE FROM assets
     WHERE owner_id = old.id AND kind IN ('icons', 'banners', 'splashes', 'embed-splashes');
END;

-- Whatever takes an avatar or a banner off an account, its deletion included, takes the image too.
CREATE TRIGGER user_avatar_gone AFTER UPDATE OF avatar ON users WHEN old.avatar IS NOT new.avatar
BEGIN
    DELETE FROM assets WHERE kind = 'avatars' AND owner_id = old.id AND hash = old.avatar;
END;

CREATE TRIGGER user_banner_gone AFTER UPDATE OF banner ON users WHEN old.banner IS NOT new.banner
BEGIN
    DELETE FROM assets WHERE kind = 'banners' AND owner_id = old.id AND hash = old.banner;
END;

CREATE TRIGGER user_images_gone AFTER DELETE ON users
BEGIN
    DELETE FROM assets WHERE owner_id = old.id AND kind IN ('avatars', 'banners');
END;
