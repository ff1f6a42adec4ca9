-- When accounts were erased.

-- When nothing was left of the account. The row stays: it says why there is an account that is nobody's.
ALTER TABLE account_deletions ADD COLUMN erased_at INTEGER;

DROP INDEX account_deletions_by_due;

CREATE INDEX account_deletions_to_do ON account_deletions (due_at) WHERE erased_at IS NULL;
