import SharedStore

extension SharedShop {
    /// The tables that servers share. Texts are compared byte by byte, as SQLite does.
    static let migrations = [SharedMigration("shop/001 profiles", sql: tables)]

    // A search may be longer than what an index holds, so that none has it.
    private static let tables = """
        CREATE TABLE shop_profile (
            profile text COLLATE "C" PRIMARY KEY,
            revision int8 NOT NULL DEFAULT 0,          -- of the list
            text text,                                 -- last search
            filters text NOT NULL DEFAULT '{}',        -- JSON
            search_revision int8 NOT NULL DEFAULT 0    -- of the last search and the history
        );

        CREATE TABLE shop_list_item (
            profile text COLLATE "C" NOT NULL,
            product_id int8 NOT NULL,
            ordinal int8 NOT NULL DEFAULT 1,           -- among the lines of one product id
            quantity int8 NOT NULL CHECK (quantity BETWEEN 1 AND 999),
            position int8 NOT NULL,
            -- The product as it was last seen under this id; kept if it is gone or its id is another product's.
            title text NOT NULL,
            description text NOT NULL,
            price text NOT NULL,                       -- exact
            category_id int8,
            category_name text,
            images text NOT NULL,                      -- JSON array of addresses
            made_at text,
            fetched_at int8 NOT NULL DEFAULT 0,        -- when it was seen so; milliseconds since 1970 UTC, as all times
            PRIMARY KEY (profile, product_id, ordinal)
        );
        CREATE INDEX shop_list_item_by_position ON shop_list_item (profile, position);
        CREATE INDEX shop_list_item_by_product ON shop_list_item (product_id);

        CREATE TABLE shop_history (
            profile text COLLATE "C" NOT NULL,
            folded text COLLATE "C" NOT NULL,          -- texts that differ in case only are one
            text text NOT NULL,
            filters text NOT NULL,                     -- JSON
            searched_at int8 NOT NULL,
            sequence int8 NOT NULL,                    -- the largest is the newest
            PRIMARY KEY (profile, sequence)
        );
        """
}
