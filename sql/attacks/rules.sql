-- attack: rules
-- title: An adversary who knows some items of a list, secret or not, names another item of the list that is secret.
-- paper: Cao, Karras, Raissi and Tan, rho-uncertainty: inference-proof transaction anonymization (2010)
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 0.8 -- the least confidence at which a rule counts as a success
-- parameter: m BIGINT 0 4 DEFAULT 2 -- the greatest number of items that the adversary knows of a list
-- falls: no -- a rule about merged items may have more confidence than the rules about each of them, because their lists overlap
-- reads: class_sensitive_value, item_rule

-- Targets are rules; rho is their greatest confidence. The rules of an adversary who knows no item are included.

-- statement: classes
SELECT rule AS class_id, 1 AS targets, confidence, CASE WHEN confidence >= $confidence THEN 1 ELSE 0 END AS succeeded
FROM item_rule
