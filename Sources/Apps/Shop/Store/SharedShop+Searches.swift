import Database
import Foundation
import Screens
import SharedStore

extension SharedShop {
    func lastSearchReader(_ query: SearchQuery, _ profile: String) async throws -> () throws -> Bool {
        let isLast = try await isLast(query, profile)
        return { isLast }
    }

    private func isLast(_ query: SearchQuery, _ profile: String) async throws -> Bool {
        let searches = try await searches(of: profile)
        guard searches.last?.text == query.text, searches.last?.filters == query.filters else { return false }
        guard let text = query.text else { return true }
        return searches.history.first?.text == text && searches.history.first?.filters == query.filters
    }

    func record(_ query: SearchQuery, _ profile: String, at now: Date) async throws {
        guard try await !isLast(query, profile) else { return }
        let filters = try ShopStore.encode(query.filters)
        do {
            _ = try await changeSearches(profile, if: .none) { _, transaction in
                try Self.set(text: query.text, filters: filters, profile, transaction)
                guard let text = query.text, let folded = query.folded else { return true }
                try transaction.execute(Self.deletePast, [profile, folded, ShopStore.maximumPastSearches - 1])
                try transaction.execute(
                    Self.insertPast,
                    [profile, folded, text, filters, now.millisecondsSince1970]
                )
                return true
            }
        } catch SharedStoreError.diskFull {
            // What was found is shown all the same.
        }
    }

    // The search itself is inserted anew, and the newest of the others stay.
    private static let deletePast = """
        DELETE FROM shop_history WHERE profile = $1 AND (folded = $2 OR sequence NOT IN (
            SELECT sequence FROM shop_history WHERE profile = $1 AND folded <> $2 ORDER BY sequence DESC LIMIT $3
        ))
        """
    private static let insertPast = """
        INSERT INTO shop_history (profile, folded, text, filters, searched_at, sequence)
        VALUES ($1, $2, $3, $4, $5, (SELECT coalesce(max(sequence), 0) + 1 FROM shop_history WHERE profile = $1))
        """

    func searches(of profile: String) async throws -> ProfileSearches {
        Self.searches(try await database.rows(Self.selectSearches, [profile]) { try SearchRow($0) })
    }

    private static func searches(of profile: String, _ transaction: SQLTransaction) throws -> ProfileSearches {
        searches(try transaction.rows(selectSearches, [profile]).map { try SearchRow($0) })
    }

    private static let selectSearches = """
        SELECT owner.text AS last_text, owner.filters AS last_filters, owner.search_revision, past.text, past.filters,
            past.searched_at
        FROM shop_profile AS owner LEFT JOIN shop_history AS past ON past.profile = owner.profile
        WHERE owner.profile = $1 ORDER BY past.sequence DESC
        """

    private static func searches(_ rows: [SearchRow]) -> ProfileSearches {
        ProfileSearches(last: rows.first?.last, history: rows.compactMap(\.past), revision: rows.first?.revision ?? 0)
    }

    func setFilters(_ filters: SearchFilters, _ profile: String, if preconditions: WritePreconditions) async throws
        -> ProfileSearches
    {
        let encoded = try ShopStore.encode(filters)
        return try await changeSearches(profile, if: preconditions) { before, transaction in
            try Self.set(text: before.last?.text, filters: encoded, profile, transaction)
            return true
        }.searches
    }

    func resetSettings(_ profile: String, if preconditions: WritePreconditions) async throws -> ProfileSearches {
        let filters = try ShopStore.encode(SearchFilters())
        return try await changeSearches(profile, if: preconditions) { _, transaction in
            try Self.set(text: nil, filters: filters, profile, transaction)
            return true
        }.searches
    }

    func clearHistory(_ profile: String, if preconditions: WritePreconditions) async throws -> ProfileSearches {
        try await changeSearches(profile, if: preconditions) { _, transaction in
            try transaction.execute("DELETE FROM shop_history WHERE profile = $1", [profile])
            return true
        }.searches
    }

    func removePastSearch(_ index: Int, _ profile: String, if preconditions: WritePreconditions) async throws
        -> ProfileSearches?
    {
        let (isChanged, searches) = try await changeSearches(profile, if: preconditions) { _, transaction in
            try transaction.execute(Self.deletePastSearch, [profile, index]) > 0
        }
        return isChanged ? searches : nil
    }

    private static let deletePastSearch = """
        DELETE FROM shop_history WHERE profile = $1 AND sequence = (
            SELECT sequence FROM shop_history WHERE profile = $1 ORDER BY sequence DESC LIMIT 1 OFFSET $2
        )
        """

    /// Changes the last search or the history, and counts their revision.
    ///
    /// - Parameters:
    ///   - preconditions: compared with the revision before the change.
    ///   - change: returns false if there is nothing to change, which comes before the preconditions (RFC 9110
    ///     §13.2.1).
    private func changeSearches(
        _ profile: String,
        if preconditions: WritePreconditions,
        _ change: @escaping @Sendable (ProfileSearches, SQLTransaction) throws -> Bool
    ) async throws -> (isChanged: Bool, searches: ProfileSearches) {
        try await write(of: profile) { transaction in
            let before = try Self.searches(of: profile, transaction)
            guard try change(before, transaction) else { return (false, before) }
            try preconditions.check(version: before.revision)
            try transaction.execute(Self.countSearchRevision, [profile])
            return (true, try Self.searches(of: profile, transaction))
        }
    }

    private static let countSearchRevision = """
        INSERT INTO shop_profile (profile, search_revision) VALUES ($1, 1)
        ON CONFLICT (profile) DO UPDATE SET search_revision = shop_profile.search_revision + 1
        """

    private static func set(text: String?, filters: String, _ profile: String, _ transaction: SQLTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO shop_profile (profile, text, filters) VALUES ($1, $2, $3)
            ON CONFLICT (profile) DO UPDATE SET text = $2, filters = $3
            """,
            [profile, text, filters]
        )
    }
}

/// A past search of a profile with its last one, or the last one alone.
private struct SearchRow: Sendable {
    let last: SearchQuery
    let past: PastSearch?
    let revision: Int

    init(_ row: SQLRow) throws {
        last = SearchQuery(
            text: try row.value("last_text"),
            filters: try ShopStore.decode(try row.value("last_filters"))
        )
        let text: String? = try row.value("text")
        past = try text.map { text in
            PastSearch(
                text: text,
                filters: try ShopStore.decode(try row.value("filters")),
                searchedAt: Date(millisecondsSince1970: try row.value("searched_at"))
            )
        }
        revision = try row.value("search_revision")
    }
}
