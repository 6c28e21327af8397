SELECT "valued"."value", "coded"."code"
FROM ({listed}) AS "valued"
JOIN "__sqlanon_domain_1" AS "coded" ON "valued"."label" IS NOT DISTINCT FROM "coded"."label"
