-- Applications that hear interactions by HTTP (interactions.md, Interactions by HTTP). Their key pairs follow from the
-- instance's secret and their ids, so that none is kept here.
ALTER TABLE applications ADD COLUMN interactions_endpoint_url TEXT;

ALTER TABLE applications DROP COLUMN verify_key;

-- What the endpoint is told, sealed, until it has answered: it has the token.
ALTER TABLE interactions ADD COLUMN sealed_delivery BLOB;
