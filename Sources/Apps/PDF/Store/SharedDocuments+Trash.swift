import Database
import Foundation
import Screens
import SharedStore

extension SharedDocuments {
    func trash(profile: String, page: PageRequest) async throws -> TrashPage<DocumentStore.Listing.Row>
    {
        try await database.read { transaction in
            let counts = try transaction.rows(Self.selectProfile, [profile]).first
            let (trashed, sequence) = (page.key?.first?.integer ?? .max, page.key?.last?.integer ?? .max)
            let rows = try transaction.rows(
                """
                SELECT \(Self.columns), document.trashed FROM pdf_document AS document
                WHERE profile = $1 AND trashed IS NOT NULL AND (trashed, sequence) < ($2, $3)
                ORDER BY trashed DESC, sequence DESC LIMIT $4 OFFSET $5
                """,
                [profile, trashed, sequence, page.limit + 1, min(page.offset, Int(Int32.max))]
            ).map { row in
                let (document, trashed) = (try DocumentRow(outline: row), try row.value("trashed") as Int64)
                return TrashPage.Entry(
                    DocumentStore.Listing.Row(document),
                    version: document.document.version,
                    deleted: Date(millisecondsSince1970: trashed),
                    key: [.integer(trashed), .integer(document.document.sequence)]
                )
            }
            return TrashPage(
                rows,
                limit: page.limit,
                total: try counts?.value("trashed") ?? 0,
                revision: try counts?.value("revision") ?? 0
            )
        }
    }

    func restore(_ id: String, preconditions: WritePreconditions, profile: String, at now: Date) async throws
        -> DocumentStore.Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await write(of: profile) { transaction -> Outcome<DocumentStore.Changed?> in
            let kept = try Self.document(id, profile: profile, at: now, transaction)
            guard let document = try kept ?? Self.trashedDocument(id, profile: profile, transaction) else {
                return Outcome(value: nil)
            }
            try preconditions.check(version: document.version)
            guard kept == nil else { return Outcome(value: (document, nil)) }
            let sql = "UPDATE pdf_document SET trashed = NULL, terms = $2 WHERE sequence = $1"
            try transaction.execute(sql, [document.sequence, Self.terms(of: document, profile: profile)])
            let change = DocumentCounts(document) - DocumentCounts(document, isTrashed: true)
            return Outcome(value: (document, try Self.count(change, isListed: true, of: profile, transaction)))
        }
    }

    func purge(_ id: String, preconditions: WritePreconditions, profile: String) async throws -> Int? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await write(of: profile) { transaction -> Outcome<Int?> in
            guard let document = try Self.trashedDocument(id, profile: profile, transaction) else {
                return Outcome(value: nil)
            }
            try preconditions.check(version: document.version)
            try Self.remove([document], transaction)
            let change = -DocumentCounts(document, isTrashed: true)
            let revision = try Self.count(change, isListed: true, of: profile, transaction)
            return Outcome(value: revision, pages: document.pages.map(\.content), hasRemoved: true)
        }
    }

    func purgeTrash(of profile: String?, upTo time: Date, preconditions: WritePreconditions) async throws
        -> (count: Int, revisions: [String: Int])
    {
        let time = time.millisecondsSince1970
        let due = "SELECT DISTINCT profile FROM pdf_document WHERE trashed <= $1"
        let profiles =
            if let profile { [profile] } else {
                try await database.rows(due, [time]) { try $0.value("profile") as String }
            }
        var (count, revisions): (Int, [String: Int]) = (0, [:])
        for owner in profiles {
            var isFirst = true
            while true {
                let (purged, revision) = try await write(of: owner) { [isFirst] transaction in
                    if isFirst, profile != nil {
                        let row = try transaction.rows(Self.selectProfile, [owner]).first
                        try preconditions.check(version: try row?.value("revision") ?? 0)
                    }
                    return try Self.purge("trashed <= $2", time, isTrashed: true, of: owner, transaction)
                }
                if let revision { revisions[owner] = revision }
                (count, isFirst) = (count + purged, false)
                if purged < DocumentStore.purgeBatch { break }
            }
        }
        return (count, revisions)
    }

    func purgeDrafts(at now: Date) async throws -> Int {
        let time = now.millisecondsSince1970
        let due = "SELECT DISTINCT profile FROM pdf_document WHERE draft_until <= $1"
        var count = 0
        for owner in try await database.rows(due, [time], { try $0.value("profile") as String }) {
            while true {
                let (purged, _) = try await write(of: owner) { transaction in
                    try Self.purge("draft_until <= $2", time, isTrashed: false, of: owner, transaction)
                }
                count += purged
                if purged < DocumentStore.purgeBatch { break }
            }
        }
        return count
    }

    /// Permanently deletes some documents of a profile, as many as one transaction may.
    ///
    /// - Parameters:
    ///   - condition: which, of `time`.
    ///   - isTrashed: whether they are in the trash.
    /// - Returns: how many they were, and the new revision of the list if that changed.
    private static func purge(
        _ condition: String,
        _ time: Int64,
        isTrashed: Bool,
        of profile: String,
        _ transaction: SQLTransaction
    ) throws -> Outcome<(Int, Int?)> {
        let sql = """
            SELECT \(columns) FROM pdf_document AS document WHERE profile = $1 AND \(condition)
            ORDER BY sequence LIMIT \(DocumentStore.purgeBatch)
            """
        let documents = try transaction.rows(sql, [profile, time]).map { try DocumentRow(outline: $0).document }
        guard !documents.isEmpty else { return Outcome(value: (0, nil)) }
        let pages = try transaction.rows(
            "SELECT DISTINCT content FROM pdf_page WHERE document = ANY($1)",
            [documents.map { Int($0.sequence) }]
        ).map { try $0.value("content") as String }
        try remove(documents, transaction)
        let change = documents.reduce(DocumentCounts()) { $0 - DocumentCounts($1, isTrashed: isTrashed) }
        let revision = try count(change, isListed: isTrashed, of: profile, transaction)
        return Outcome(value: (documents.count, revision), pages: pages, hasRemoved: true)
    }
}
