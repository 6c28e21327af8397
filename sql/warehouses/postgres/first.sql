-- The script is in UTF-8, whatever encoding the client assumes.
SET client_encoding = 'UTF8';
