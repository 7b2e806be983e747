import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage
import Upstream

extension ShopStore {
    /// Maximum number of searches in the history of a profile.
    static let maximumPastSearches = 5

    /// Records a search as the profile's last one, and if it has a text, in its history. Writes nothing if it is the
    /// last one already. If it cannot be written at present, the search is shown without being recorded.
    ///
    /// - Throws: `StorageError` other than a full disk.
    func record(_ query: SearchQuery, _ profile: String, at now: Date) async throws {
        guard try !isLast(query, profile) else { return }
        let filters = try Self.encode(query.filters)
        do {
            _ = try await change(profile) { _, db in
                try Self.set(text: query.text, filters: filters, profile, db)
                guard let text = query.text, let folded = query.folded else { return }
                try Self.add(text, folded: folded, filters: filters, profile, at: now.millisecondsSince1970, db)
            }
        } catch  where UserDatabase.isTemporary(error) {
            return
        }
    }

    /// Adds a search to the history.
    private static func add(
        _ text: String,
        folded: String,
        filters: String,
        _ profile: String,
        at time: Int64,
        _ db: Database
    ) throws {
        try db.execute(sql: deleteBeginning, arguments: ["profile": profile, "folded": folded, "time": time])
        try db.execute(
            sql: insertPastSearch,
            arguments: ["profile": profile, "folded": folded, "text": text, "filters": filters, "time": time]
        )
        try db.execute(sql: deleteOldSearches, arguments: ["profile": profile, "most": maximumPastSearches])
    }

    private static let insertPastSearch = """
        INSERT OR REPLACE INTO shop_history (profile, folded, text, filters, searched_at, sequence)
        VALUES (
            :profile, :folded, :text, :filters, :time,
            (SELECT coalesce(max(sequence), 0) + 1 FROM shop_history WHERE profile = :profile)
        )
        """

    /// Deletes the newest search if the new one continues its text within a minute, as one types.
    private static let deleteBeginning = """
        DELETE FROM shop_history WHERE profile = :profile
            AND sequence = (SELECT max(sequence) FROM shop_history WHERE profile = :profile)
            AND searched_at BETWEEN :time - 60000 AND :time
            AND substr(:folded, 1, length(folded)) = folded
        """

    private static let deleteOldSearches = """
        DELETE FROM shop_history WHERE profile = :profile AND sequence NOT IN (
            SELECT sequence FROM shop_history WHERE profile = :profile ORDER BY sequence DESC LIMIT :most
        )
        """

    /// Whether a search is the profile's last one, and if it has a text, the newest of its history.
    func isLast(_ query: SearchQuery, _ profile: String) throws -> Bool {
        try users.read { db in
            guard let row = try Row.fetchOne(try db.cachedStatement(sql: Self.selectLast), arguments: [profile]),
                try row.value("text") == query.text, try row.json("filters") == query.filters
            else { return false }
            guard let text = query.text else { return true }
            return try row.value("newest_text") == text && row.json("newest_filters") == query.filters
        }
    }

    static let selectLast = """
        SELECT last.text, last.filters, newest.text AS newest_text, newest.filters AS newest_filters
        FROM shop_profile AS last
        LEFT JOIN shop_history AS newest ON newest.profile = last.profile
        WHERE last.profile = ? ORDER BY newest.sequence DESC LIMIT 1
        """

    /// Returns the last search and the history of a profile, read in one transaction.
    ///
    /// - Parameter history: Whether the history is needed.
    func searches(of profile: String, history: Bool = true) throws -> ProfileSearches {
        try users.read { try Self.searches(of: profile, history: history, $0) }
    }

    private static func searches(of profile: String, history isNeeded: Bool = true, _ db: Database) throws
        -> ProfileSearches
    {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT text, filters, search_revision FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        )
        return ProfileSearches(
            last: try row.map { try SearchQuery(text: $0.value("text"), filters: $0.json("filters")) },
            history: isNeeded ? try history(profile, db) : [],
            revision: try row?.size("search_revision") ?? 0
        )
    }

    /// Replaces the filters of the last search; its text stays.
    ///
    /// - Throws: ``Problem`` 412.
    func setFilters(_ filters: SearchFilters, _ profile: String, if preconditions: WritePreconditions = .none)
        async throws -> ProfileSearches
    {
        let encoded = try Self.encode(filters)
        return try await change(profile, if: preconditions) { before, db in
            try Self.set(text: before.last?.text, filters: encoded, profile, db)
        }
    }

    /// Removes text and filters of the last search.
    ///
    /// - Throws: ``Problem`` 412.
    func resetSettings(_ profile: String, if preconditions: WritePreconditions = .none) async throws -> ProfileSearches
    {
        let filters = try Self.encode(SearchFilters())
        return try await change(profile, if: preconditions) { _, db in
            try Self.set(text: nil, filters: filters, profile, db)
        }
    }

    /// Changes the last search or the history in a transaction that also counts their revision.
    ///
    /// - Parameters:
    ///   - preconditions: Compared with the revision before the change.
    ///   - change: Throws if there is nothing to change. This is checked before the preconditions (RFC 9110 §13.2.1).
    private func change(
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        deleting: UserDatabase.Deletion = .nothing,
        _ change: @escaping @Sendable (ProfileSearches, Database) throws -> Void
    ) async throws -> ProfileSearches {
        try await users.write(scope: Self.scope(profile), deleting: deleting) { [profileChanges] db in
            let before = try Self.searches(of: profile, db)
            try change(before, db)
            try preconditions.check(version: before.revision)
            profileChanges[profile].bump(afterCommitOf: db)
            try db.execute(sql: Self.countSearchRevision, arguments: [profile])
            return try Self.searches(of: profile, db)
        }
    }

    private static let countSearchRevision = """
        INSERT INTO shop_profile (profile, revision, text, filters, search_revision) VALUES (?, 0, NULL, '{}', 1)
        ON CONFLICT (profile) DO UPDATE SET search_revision = search_revision + 1
        """

    private static func set(text: String?, filters: String, _ profile: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO shop_profile (profile, revision, text, filters) VALUES (?, 0, ?, ?)
                ON CONFLICT (profile) DO UPDATE SET text = excluded.text, filters = excluded.filters
                """,
            arguments: [profile, text, filters]
        )
    }

    private static func history(_ profile: String, _ db: Database) throws -> [PastSearch] {
        try Row.fetchAll(
            try db.cachedStatement(
                sql: "SELECT text, filters, searched_at FROM shop_history WHERE profile = ? ORDER BY sequence DESC"
            ),
            arguments: [profile]
        ).map {
            try PastSearch(text: $0.value("text"), filters: $0.json("filters"), searchedAt: $0.date("searched_at"))
        }
    }

    /// Removes the history of a profile.
    ///
    /// - Throws: ``Problem`` 412.
    func clearHistory(_ profile: String, if preconditions: WritePreconditions = .none) async throws -> ProfileSearches {
        try await change(profile, if: preconditions, deleting: .permanent) { _, db in
            try db.execute(sql: "DELETE FROM shop_history WHERE profile = ?", arguments: [profile])
        }
    }

    /// Removes one search from the history of a profile.
    ///
    /// - Parameter index: 0 for the newest search.
    /// - Throws: ``Problem`` 404, 412.
    func removePastSearch(_ index: Int, _ profile: String, if preconditions: WritePreconditions = .none) async throws
        -> ProfileSearches
    {
        try await change(profile, if: preconditions, deleting: .permanent) { _, db in
            try db.execute(sql: Self.deletePastSearch, arguments: ["profile": profile, "index": index])
            guard db.changesCount > 0 else { throw Problem.noSearch }
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
}
