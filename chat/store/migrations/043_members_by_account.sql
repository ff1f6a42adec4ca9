-- Ready reads all memberships of an account. Here they lie side by side, with what is read of each; before, each was one
-- page of `members` and one of `member_roles`, of hundreds of guilds.
DROP INDEX members_of_user;

CREATE INDEX members_of_user ON members (
    user_id, guild_id, joined_at, nick, avatar, banner, accent_color, mute, deaf, communication_disabled_until,
    profile_flags, mention_flags, join_source, inviter_id, bio, pronouns
);

CREATE INDEX member_roles_of_user ON member_roles (user_id, guild_id, role_id);
