import Database
import Foundation
import Freshness
import GRDB
import Upstream

extension ShopStore {
    /// Maximum number of searches in the history of a profile.
    static let maximumPastSearches = 5

    /// Records a search as the profile's last one, and if it has a text, in its history. Nothing is written if it is
    /// the last one already.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func record(_ query: SearchQuery, _ profile: String, at now: Date) async throws {
        guard try !isLast(query, profile) else { return }
        let filters = try Self.encode(query.filters)
        try await database.write { [profileChanges] db in
            profileChanges[profile].bump(afterCommitOf: db)
            try Self.set(text: query.text, filters: filters, profile, db)
            guard let text = query.text, let folded = query.folded else { return }
            try db.execute(
                sql: Self.insertPastSearch,
                arguments: [
                    "profile": profile, "folded": folded, "text": text, "filters": filters,
                    "time": now.millisecondsSince1970,
                ]
            )
            try db.execute(
                sql: Self.deleteOldSearches,
                arguments: ["profile": profile, "most": Self.maximumPastSearches]
            )
        }
    }

    private static let insertPastSearch = """
        INSERT OR REPLACE INTO shop_history (profile, folded, text, filters, searched_at, sequence)
        VALUES (
            :profile, :folded, :text, :filters, :time,
            (SELECT coalesce(max(sequence), 0) + 1 FROM shop_history WHERE profile = :profile)
        )
        """

    private static let deleteOldSearches = """
        DELETE FROM shop_history WHERE profile = :profile AND sequence NOT IN (
            SELECT sequence FROM shop_history WHERE profile = :profile ORDER BY sequence DESC LIMIT :most
        )
        """

    private func isLast(_ query: SearchQuery, _ profile: String) throws -> Bool {
        try database.read { db in
            guard let last = try Self.settings(profile, db), last.text == query.text, last.filters == query.filters
            else { return false }
            guard let text = query.text else { return true }
            let newest = try Self.history(profile, db).first
            return newest?.text == text && newest?.filters == query.filters
        }
    }

    /// Returns the last search of a profile; nil if there is none or it was reset.
    func settings(_ profile: String) throws -> SearchQuery? {
        try database.read { try Self.settings(profile, $0) }
    }

    private static func settings(_ profile: String, _ db: Database) throws -> SearchQuery? {
        try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT text, filters FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        ).map { SearchQuery(text: $0["text"], filters: try decode($0["filters"])) }
    }

    /// Replaces the filters of the last search; its text stays.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func setFilters(_ filters: SearchFilters, _ profile: String) async throws -> SearchQuery {
        let encoded = try Self.encode(filters)
        return try await database.write { [profileChanges] db in
            profileChanges[profile].bump(afterCommitOf: db)
            let text = try Self.settings(profile, db)?.text
            try Self.set(text: text, filters: encoded, profile, db)
            return SearchQuery(text: text, filters: filters)
        }
    }

    /// Removes text and filters of the last search.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func resetSettings(_ profile: String) async throws {
        let filters = try Self.encode(SearchFilters())
        try await database.write { [profileChanges] db in
            profileChanges[profile].bump(afterCommitOf: db)
            try Self.set(text: nil, filters: filters, profile, db)
        }
    }

    private static func set(text: String?, filters: String, _ profile: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO shop_profile (profile, revision, text, filters) VALUES (?, 0, ?, ?)
                ON CONFLICT (profile) DO UPDATE SET text = excluded.text, filters = excluded.filters
                """,
            arguments: [profile, text, filters]
        )
    }

    /// Returns the history of a profile, newest first.
    func history(_ profile: String) throws -> [PastSearch] {
        try database.read { try Self.history(profile, $0) }
    }

    private static func history(_ profile: String, _ db: Database) throws -> [PastSearch] {
        try Row.fetchAll(
            try db.cachedStatement(
                sql: "SELECT text, filters, searched_at FROM shop_history WHERE profile = ? ORDER BY sequence DESC"
            ),
            arguments: [profile]
        ).map {
            PastSearch(
                text: $0["text"],
                filters: try decode($0["filters"]),
                searchedAt: Date(millisecondsSince1970: $0["searched_at"])
            )
        }
    }

    /// Removes the history of a profile.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func clearHistory(_ profile: String) async throws {
        try await database.write { [profileChanges] db in
            profileChanges[profile].bump(afterCommitOf: db)
            try db.execute(sql: "DELETE FROM shop_history WHERE profile = ?", arguments: [profile])
        }
    }

    /// Removes one search from the history of a profile.
    ///
    /// - Parameter index: 0 for the newest search.
    /// - Returns: False if there is no such search.
    /// - Throws: `StorageError`, `CancellationError`.
    func removePastSearch(_ index: Int, _ profile: String) async throws -> Bool {
        try await database.write { [profileChanges] db in
            try db.execute(sql: Self.deletePastSearch, arguments: ["profile": profile, "index": index])
            guard db.changesCount > 0 else { return false }
            profileChanges[profile].bump(afterCommitOf: db)
            return true
        }
    }

    private static let deletePastSearch = """
        DELETE FROM shop_history WHERE profile = :profile AND sequence = (
            SELECT sequence FROM shop_history WHERE profile = :profile ORDER BY sequence DESC LIMIT 1 OFFSET :index
        )
        """

    private static func encode(_ filters: SearchFilters) throws -> String {
        String(decoding: try JSONEncoder().encode(filters), as: UTF8.self)
    }

    private static func decode(_ text: String) throws -> SearchFilters {
        try JSONDecoder().decode(SearchFilters.self, from: Data(text.utf8))
    }
}
