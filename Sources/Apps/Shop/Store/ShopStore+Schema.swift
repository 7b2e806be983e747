import Storage

extension ShopStore {
    /// The app's tables. A migration is never edited once it has been released.
    static let migrations = [
        SchemaMigration(
            "shop/001 catalogue",
            sql: """
                CREATE TABLE shop_product (
                    id INTEGER PRIMARY KEY,
                    title TEXT NOT NULL,
                    description TEXT NOT NULL,
                    price TEXT NOT NULL, -- exact
                    category_id INTEGER,
                    category_name TEXT,
                    images TEXT NOT NULL, -- JSON array of addresses
                    made_at TEXT, -- in the upstream's form
                    gone INTEGER NOT NULL, -- the upstream said that there is no such product
                    fetched_at INTEGER NOT NULL -- milliseconds since 1970 UTC, as all times
                ) STRICT;
                CREATE INDEX shop_product_by_fetch ON shop_product (fetched_at);

                CREATE TABLE shop_category (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL,
                    position INTEGER NOT NULL
                ) STRICT;

                -- What can be searched, in narrow rows that are fast to scan. The title is case-folded and ends in two
                -- characters U+0002, so that its last characters begin a trigram, too.
                CREATE TABLE shop_search (
                    id INTEGER PRIMARY KEY,
                    folded TEXT NOT NULL,
                    category_id INTEGER,
                    price REAL NOT NULL
                ) STRICT;
                CREATE INDEX shop_search_by_price ON shop_search (price);
                CREATE INDEX shop_search_by_category ON shop_search (category_id, price);
                CREATE VIRTUAL TABLE shop_text USING fts5 (
                    folded, content = 'shop_search', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
                );
                CREATE VIRTUAL TABLE shop_term USING fts5vocab (shop_text, 'row');

                -- Position in the upstream's list at which a page begins, if that is not its own offset because rows
                -- before it were filtered out.
                CREATE TABLE shop_position (
                    query TEXT NOT NULL,
                    page_limit INTEGER NOT NULL,
                    page_offset INTEGER NOT NULL,
                    position INTEGER NOT NULL,
                    noted_at INTEGER NOT NULL,
                    PRIMARY KEY (query, page_limit, page_offset)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX shop_position_by_time ON shop_position (noted_at);
                """
        ),
        SchemaMigration(
            "shop/002 profiles",
            sql: """
                CREATE TABLE shop_list_item (
                    profile TEXT NOT NULL,
                    product_id INTEGER NOT NULL,
                    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 999),
                    position INTEGER NOT NULL,
                    -- The product as it was last seen under this id; kept if it is gone or its id is another product's.
                    title TEXT NOT NULL,
                    description TEXT NOT NULL,
                    price TEXT NOT NULL,
                    category_id INTEGER,
                    category_name TEXT,
                    images TEXT NOT NULL,
                    made_at TEXT,
                    PRIMARY KEY (profile, product_id)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX shop_list_item_by_position ON shop_list_item (profile, position);
                CREATE INDEX shop_list_item_by_product ON shop_list_item (product_id);

                CREATE TABLE shop_history (
                    profile TEXT NOT NULL,
                    folded TEXT NOT NULL, -- texts that differ in case only are one
                    text TEXT NOT NULL,
                    filters TEXT NOT NULL, -- JSON
                    searched_at INTEGER NOT NULL,
                    sequence INTEGER NOT NULL, -- the largest is the newest
                    PRIMARY KEY (profile, folded)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE shop_profile (
                    profile TEXT PRIMARY KEY,
                    revision INTEGER NOT NULL, -- of the list
                    text TEXT, -- last search
                    filters TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        ),
        // The upstream gives an id to another product each night: both may be on a list.
        SchemaMigration(
            "shop/003 lines",
            sql: """
                ALTER TABLE shop_list_item RENAME TO shop_list_item_before;
                CREATE TABLE shop_list_item (
                    profile TEXT NOT NULL,
                    product_id INTEGER NOT NULL,
                    ordinal INTEGER NOT NULL DEFAULT 1, -- among the lines of one product id
                    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 999),
                    position INTEGER NOT NULL,
                    -- The product as it was last seen under this id; kept if it is gone or its id is another product's.
                    title TEXT NOT NULL,
                    description TEXT NOT NULL,
                    price TEXT NOT NULL,
                    category_id INTEGER,
                    category_name TEXT,
                    images TEXT NOT NULL,
                    made_at TEXT,
                    PRIMARY KEY (profile, product_id, ordinal)
                ) STRICT, WITHOUT ROWID;
                INSERT INTO shop_list_item (
                    profile, product_id, quantity, position, title, description, price, category_id, category_name,
                    images, made_at
                )
                SELECT profile, product_id, quantity, position, title, description, price, category_id, category_name,
                    images, made_at
                FROM shop_list_item_before;
                DROP TABLE shop_list_item_before;
                CREATE INDEX shop_list_item_by_position ON shop_list_item (profile, position);
                CREATE INDEX shop_list_item_by_product ON shop_list_item (product_id);
                -- Changes of the history, and of the last search with its filters.
                ALTER TABLE shop_profile ADD COLUMN search_revision INTEGER NOT NULL DEFAULT 0;
                """
        ),
        SchemaMigration(
            "shop/004 pages of categories",
            sql: "CREATE UNIQUE INDEX shop_category_by_position ON shop_category (position)"
        ),
        SchemaMigration(
            "shop/005 totals",
            sql: "CREATE INDEX shop_list_item_by_price ON shop_list_item (profile, price, quantity);"
        ),
        SchemaMigration(
            "shop/006 changes of products",
            sql: """
                -- When the content of the row was received.
                ALTER TABLE shop_product ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
                UPDATE shop_product SET changed_at = fetched_at;
                CREATE INDEX shop_product_by_change ON shop_product (changed_at);
                """
        ),
        wordsMigration,
        SchemaMigration(
            "shop/008 slugs, earlier prices, pictures of categories",
            sql: """
                ALTER TABLE shop_product ADD COLUMN slug TEXT;
                ALTER TABLE shop_list_item ADD COLUMN slug TEXT;
                -- The id that the product has now, if it is another one than when it was added.
                ALTER TABLE shop_list_item ADD COLUMN current_id INTEGER;
                -- The price that the user has seen last, if it is another one now.
                ALTER TABLE shop_list_item ADD COLUMN was_price TEXT;
                CREATE INDEX shop_product_by_slug ON shop_product (slug) WHERE slug IS NOT NULL;
                CREATE INDEX shop_product_by_title ON shop_product (title);
                CREATE INDEX shop_list_item_by_title ON shop_list_item (title);
                CREATE INDEX shop_list_item_by_slug ON shop_list_item (slug) WHERE slug IS NOT NULL;
                DROP INDEX shop_list_item_by_product;
                CREATE INDEX shop_list_item_by_product ON shop_list_item (coalesce(current_id, product_id));
                CREATE INDEX shop_search_by_title ON shop_search (folded);
                ALTER TABLE shop_category ADD COLUMN image TEXT;
                """
        ),
        SchemaMigration(
            "shop/009 bought",
            sql: """
                ALTER TABLE shop_list_item ADD COLUMN bought INTEGER NOT NULL DEFAULT 0;
                UPDATE shop_list_item SET bought = 0; -- stored, for the changesets of several servers
                """
        ),
    ]
}
