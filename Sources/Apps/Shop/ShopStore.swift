import Foundation
import GRDB
public import Storage
import Upstream

/// The tables of the Shop app: what was seen of the catalogue, and what each profile has put on its list, searched for
/// and set.
///
/// One table of list items feeds search, card and list, so that they cannot disagree.
public struct ShopStore: Sendable {
    /// The steps that make the tables.
    public static let migrations = [
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
                    made_at TEXT, -- the upstream's own word
                    gone INTEGER NOT NULL, -- the upstream said that there is no such product
                    fetched_at INTEGER NOT NULL -- milliseconds since 1970 UTC, as all times
                ) STRICT;
                CREATE INDEX shop_product_by_fetch ON shop_product (fetched_at);

                CREATE TABLE shop_category (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL,
                    position INTEGER NOT NULL
                ) STRICT;

                -- What can be searched, narrow enough to be looked through. The title is case-folded and ends in two characters U+0002, so that the
                -- last ones of it begin a trigram, too.
                CREATE TABLE shop_search (
                    id INTEGER PRIMARY KEY,
                    folded TEXT NOT NULL,
                    category_id INTEGER,
                    price REAL NOT NULL
                ) STRICT;
                CREATE INDEX shop_search_by_price ON shop_search (price);
                CREATE INDEX shop_search_by_category ON shop_search (category_id, price);
                CREATE VIRTUAL TABLE shop_text USING fts5 (folded, content = 'shop_search', content_rowid = 'id', tokenize = 'trigram case_sensitive 1');
                CREATE VIRTUAL TABLE shop_term USING fts5vocab (shop_text, 'row');

                -- Where in the upstream's list a page begins, where that is not at its own offset because rows before it were sorted out.
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
                    -- The product as it was when it was last seen under this id; kept when it is gone or its id means something else.
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
    ]

    let database: LarderDatabase
    /// Bumped when what is known of the catalogue changes.
    let catalogueChanges = VersionCounter()
    /// Bumped when a list, a history or settings change, by profile.
    let profileChanges = VersionCounters()

    /// The shop of one database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// For how long what a profile sees stays as it is. To be taken before it is read.
    func changeToken(_ profile: String) -> ChangeToken {
        ChangeToken(of: catalogueChanges, profileChanges[profile])
    }

    /// The whole body of a stored response; nil if its file is gone.
    func bytes(of response: CachedResponse) async throws -> Data? {
        switch try await ResponseStore(database).openBody(of: response) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }
}
