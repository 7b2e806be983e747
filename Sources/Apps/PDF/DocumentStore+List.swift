import Foundation
import GRDB
import Screens
import Storage
import Upstream

extension DocumentStore {
    /// A part of the saved documents of a profile, newest first.
    struct Listing: Sendable, Equatable {
        /// A document as the list shows it.
        struct Row: Sendable, Equatable {
            var id: String
            var name: String
            var created: Date
            var length: Int
            var pageCount: Int
        }

        var rows: [Row]
        var total: Int
        var revision: Int
    }

    func list(profile: String, page: PageRequest) throws -> Listing {
        try database.read { db in
            Listing(
                rows: try Row.fetchAll(
                    try db.cachedStatement(sql: Self.selectList),
                    arguments: [profile, page.limit, page.offset]
                ).map { row in
                    Listing.Row(
                        id: row["id"],
                        name: row["name"],
                        created: Instant.read(row["created"]),
                        length: row["length"],
                        pageCount: row["page_count"]
                    )
                },
                total: try Int.fetchOne(try db.cachedStatement(sql: Self.countList), arguments: [profile]) ?? 0,
                revision: try Int.fetchOne(
                    try db.cachedStatement(sql: "SELECT revision FROM pdf_profile WHERE profile = ?"),
                    arguments: [profile]
                ) ?? 0
            )
        }
    }

    /// Number of the last change of a profile's list.
    func revision(profile: String) throws -> Int {
        try database.read { db in
            try Int.fetchOne(
                try db.cachedStatement(sql: "SELECT revision FROM pdf_profile WHERE profile = ?"),
                arguments: [profile]
            ) ?? 0
        }
    }

    static let selectList = """
        SELECT *, (SELECT count(*) FROM pdf_page WHERE document = sequence) AS page_count FROM pdf_document
        WHERE profile = ? AND draft_until IS NULL ORDER BY created DESC, sequence DESC LIMIT ? OFFSET ?
        """
    static let countList = "SELECT count(*) FROM pdf_document WHERE profile = ? AND draft_until IS NULL"

    /// Whether the welcome of a profile was seen.
    func isWelcomeSeen(profile: String) throws -> Bool {
        try database.read { db in
            try Bool.fetchOne(
                try db.cachedStatement(sql: "SELECT seen FROM pdf_profile WHERE profile = ?"),
                arguments: [profile]
            ) ?? false
        }
    }

    /// Notes whether it was.
    func setWelcomeSeen(_ isSeen: Bool, profile: String) async throws {
        defer { changes[profile].bump() }
        try await database.write { db in
            try db.execute(
                sql:
                    "INSERT INTO pdf_profile (profile, seen, revision) VALUES (?, ?, 0) ON CONFLICT (profile) DO UPDATE SET seen = excluded.seen",
                arguments: [profile, isSeen]
            )
        }
    }
}
