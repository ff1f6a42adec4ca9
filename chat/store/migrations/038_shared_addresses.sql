-- Administrators may give an account the address of another one.

-- `email_key` belongs to the account that signs in by an address, `address_key` to all that have it.
ALTER TABLE users ADD COLUMN address_key TEXT;

UPDATE users SET address_key = coalesce(email_key, lower(email)) WHERE email IS NOT NULL;

CREATE INDEX users_by_address ON users (address_key) WHERE address_key IS NOT NULL;

UPDATE users SET email_key = address_key
 WHERE id IN (SELECT min(id) FROM users WHERE address_key IS NOT NULL
               GROUP BY address_key HAVING count(email_key) = 0);

-- Whoever gives an address up hands it over to the oldest of the others, in whichever way that comes about.
CREATE TRIGGER address_given_up AFTER UPDATE OF email_key ON users
  WHEN old.email_key IS NOT NULL AND new.email_key IS NOT old.email_key
BEGIN
    UPDATE users SET email_key = old.email_key
     WHERE id = (SELECT min(id) FROM users WHERE address_key = old.email_key AND email_key IS NULL);
END;
