import Foundation
import GRDB
import Storage
import Upstream

/// A search that a profile has made.
struct PastSearch: Sendable, Equatable {
    var text: String
    var filters: SearchFilters
    var searchedAt: Date
}

extension ShopStore {
    /// Most searches that are remembered for a profile.
    static let mostPastSearches = 5

    /// Remembers a search: as last settings, and if it has a text in the history. Nothing is written where it is the
    /// last one already.
    func note(_ query: SearchQuery, _ profile: String, at now: Date) async throws {
        guard try !isLast(query, profile) else { return }
        defer { profileChanges[profile].bump() }
        let filters = try Self.encode(query.filters)
        try await database.write { db in
            try Self.set(text: query.text, filters: filters, profile, db)
            guard let text = query.text, let folded = query.folded else { return }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO shop_history (profile, folded, text, filters, searched_at, sequence)
                    VALUES (:profile, :folded, :text, :filters, :time, (SELECT coalesce(max(sequence), 0) + 1 FROM shop_history WHERE profile = :profile))
                    """,
                arguments: [
                    "profile": profile, "folded": folded, "text": text, "filters": filters,
                    "time": now.millisecondsSince1970,
                ]
            )
            try db.execute(
                sql: """
                    DELETE FROM shop_history WHERE profile = :profile AND sequence NOT IN (
                        SELECT sequence FROM shop_history WHERE profile = :profile ORDER BY sequence DESC LIMIT :most
                    )
                    """,
                arguments: ["profile": profile, "most": Self.mostPastSearches]
            )
        }
    }

    private func isLast(_ query: SearchQuery, _ profile: String) throws -> Bool {
        try database.read { db in
            guard let last = try Self.settings(profile, db), last.text == query.text, last.filters == query.filters
            else { return false }
            guard let text = query.text else { return true }
            let newest = try Self.history(profile, db).first
            return newest?.text == text && newest?.filters == query.filters
        }
    }

    /// The last search of a profile; nil where there is none or it was reset.
    func settings(_ profile: String) throws -> SearchQuery? {
        try database.read { try Self.settings(profile, $0) }
    }

    private static func settings(_ profile: String, _ db: Database) throws -> SearchQuery? {
        try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT text, filters FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        ).map {
            SearchQuery(text: $0["text"], filters: try decode($0["filters"]))
        }
    }

    /// Puts filters in place of the last ones; the last text stays.
    func setFilters(_ filters: SearchFilters, _ profile: String) async throws -> SearchQuery {
        defer { profileChanges[profile].bump() }
        let encoded = try Self.encode(filters)
        return try await database.write { db in
            let text = try Self.settings(profile, db)?.text
            try Self.set(text: text, filters: encoded, profile, db)
            return SearchQuery(text: text, filters: filters)
        }
    }

    /// Forgets the last search, its text and its filters.
    func resetSettings(_ profile: String) async throws {
        defer { profileChanges[profile].bump() }
        let filters = try Self.encode(SearchFilters())
        try await database.write { try Self.set(text: nil, filters: filters, profile, $0) }
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

    /// The searches of a profile, newest first.
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

    /// Forgets all searches of a profile.
    func clearHistory(_ profile: String) async throws {
        defer { profileChanges[profile].bump() }
        try await database.write {
            try $0.execute(sql: "DELETE FROM shop_history WHERE profile = ?", arguments: [profile])
        }
    }

    /// Forgets one search, by its place from 0. False where there is none.
    func removePastSearch(_ place: Int, _ profile: String) async throws -> Bool {
        defer { profileChanges[profile].bump() }
        return try await database.write { db in
            try db.execute(
                sql: """
                    DELETE FROM shop_history WHERE profile = :profile AND sequence = (
                        SELECT sequence FROM shop_history WHERE profile = :profile ORDER BY sequence DESC LIMIT 1 OFFSET :place
                    )
                    """,
                arguments: ["profile": profile, "place": place]
            )
            return db.changesCount > 0
        }
    }

    private static func encode(_ filters: SearchFilters) throws -> String {
        String(decoding: try JSONEncoder().encode(filters), as: UTF8.self)
    }

    private static func decode(_ text: String) throws -> SearchFilters {
        try JSONDecoder().decode(SearchFilters.self, from: Data(text.utf8))
    }
}
