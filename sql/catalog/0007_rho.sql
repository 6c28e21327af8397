-- How a budget adds up what answers cost, and the sum by zero-concentrated differential privacy.

ALTER TABLE anon.budget ADD COLUMN accounting VARCHAR DEFAULT 'basic';
ALTER TABLE anon.budget ADD COLUMN spent_rho DECIMAL(38, 18) DEFAULT 0;
ALTER TABLE anon.budget_entry ADD COLUMN rho DECIMAL(38, 18) DEFAULT 0;
