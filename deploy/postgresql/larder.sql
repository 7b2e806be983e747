-- The database of Larder's shared store and its only user:
--   psql -v password=… -f larder.sql
-- Fewer connections than max_connections: a commit that waits for a standby keeps its connection after its client has
-- given up, and what brings a standby back needs connections of its own.
CREATE ROLE larder LOGIN PASSWORD :'password' CONNECTION LIMIT 80;
-- UTF8 is needed; the order of C.UTF-8 is the same on every machine and in every version.
CREATE DATABASE larder OWNER larder TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8';
REVOKE CONNECT ON DATABASE larder FROM PUBLIC;
