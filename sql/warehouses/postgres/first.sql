-- The script is in UTF-8, whatever the client takes a script to be in.
SET client_encoding = 'UTF8';
