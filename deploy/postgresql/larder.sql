-- The database of Larder's shared store and its only user:
--   psql -v password=… -f larder.sql
CREATE ROLE larder LOGIN PASSWORD :'password';
-- UTF8 is needed; the order of C.UTF-8 is the same on every machine and in every version.
CREATE DATABASE larder OWNER larder TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8';
REVOKE CONNECT ON DATABASE larder FROM PUBLIC;
