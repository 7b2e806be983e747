import Foundation
import GRDB
import HTTP
import HTTPTypes
import Storage
import Upstream

// Bodies of files, small pictures and pages: stored responses named after the file's path, tagged with the version of
// the file. One of another version is ignored.
extension DiskStore {
    enum Body: Sendable, Equatable {
        case content
        case preview(PreviewSize)
        /// A page as a picture; counted from 1.
        case page(Int, width: Int)
        /// The whole file as a PDF.
        case document

        var text: String {
            switch self {
            case .content: "content"
            case .preview(let size): "preview=\(size.text)"
            case .page(let number, let width): "page=\(number)&width=\(width)"
            case .document: "pdf"
            }
        }
    }

    private static func name(_ body: Body, of path: DiskPath) -> String { "\(path.queryValue)?\(body.text)" }

    /// Returns the prefixes of the names of all bodies of a file, and of those below a folder.
    static func bodyPrefixes(of path: DiskPath) -> [String] {
        ["\(path.queryValue)?", PercentEncoding.encode(path.below, allowed: .unreserved)]
    }

    /// Returns the versions of the contents that are stored of files, by the names of their bodies.
    private func storedVersions(of items: [DiskItem], account: String, _ db: Database) throws -> [String: String] {
        try responses.entityTags(
            upstream: Self.bodies,
            urls: items.filter { $0.version != nil }.map { Self.name(.content, of: $0.path) },
            credential: credential(of: account),
            in: db
        )
    }

    /// Reads rows of table `disk_item`, and whether the present versions of their contents are stored.
    func diskRows(_ rows: [Row], account: String, _ db: Database) throws -> [DiskRow] {
        guard let first = rows.first else { return [] }
        return try diskRows(rows.compactMap(ItemColumns(of: first).item(in:)), account: account, db)
    }

    /// Adds to items whether the present versions of their contents are stored.
    func diskRows(_ items: [StoredItem], account: String, _ db: Database) throws -> [DiskRow] {
        let stored = try storedVersions(of: items.map(\.item), account: account, db)
        let offline = try offlineStates(of: items.map(\.item), account: account, db)
        return items.map { row in
            let item = row.item
            return DiskRow(
                item: item,
                seenAt: row.seenAt,
                changedAt: row.changedAt,
                isDownloaded: item.version.map {
                    $0 == stored[Self.name(.content, of: item.path)] || $0 == offline?.versions[item.path]
                } ?? false,
                offline: offline?.marking(of: item.path) ?? .none
            )
        }
    }

    private static func version(of response: CachedResponse) -> String? { response.head.headerFields[.eTag] }

    private func stored(_ body: Body, of path: DiskPath, account: String, _ db: Database) throws -> CachedResponse? {
        let credential = credential(of: account)
        return try responses.responses(
            upstream: Self.bodies,
            method: .get,
            url: Self.name(body, of: path),
            credential: credential,
            in: db
        )
        .first { $0.credential == credential }
    }

    func body(_ body: Body, of item: DiskItem, account: String) throws -> CachedResponse? {
        guard let version = item.version else { return nil }
        return try database.read { try stored(body, of: item.storedPath, account: account, $0) }.flatMap {
            Self.version(of: $0) == version ? $0 : nil
        }
    }

    /// Removes the copy of a content that is kept elsewhere.
    func removeCachedContent(of path: DiskPath, account: String, _ db: Database) throws {
        let name = Self.name(.content, of: path)
        try responses.remove(upstream: Self.bodies, urlPrefix: name, credential: credential(of: account), in: db)
    }

    /// Stores a finished body, which replaces one of an older version.
    ///
    /// - Parameter job: The download that fetched it, which is done in the same transaction.
    /// - Returns: False if the account was logged out or the file has changed: then nothing is stored.
    @discardableResult
    func save(
        _ stored: StoredBody,
        as body: Body,
        of item: DiskItem,
        type: String,
        account: String,
        epoch: Int64?,
        at now: Date,
        job: String? = nil
    )
        async throws -> Bool
    {
        guard let version = item.version else { return false }
        let response = CachedResponse(
            upstream: Self.bodies,
            credential: credential(of: account),
            head: CachedResponseHead(
                url: Self.name(body, of: item.storedPath),
                status: .ok,
                headerFields: [.contentType: type, .eTag: version],
                requestTime: now,
                responseTime: now
            ),
            body: stored
        )
        return try await database.write { [self] db in
            guard try isCurrent(item, since: epoch, account: account, db) else { return false }
            if let job {
                try db.execute(sql: Self.finishDownload, arguments: [stored.count, job, account])
                guard db.changesCount > 0 else { return false }
            }
            try responses.save(response, in: db)
            bump(account, after: db)
            // Rows say whether the content is here.
            if body == .content { try notify(DiskEvents.lists, account: account, after: db) }
            return true
        }
    }

    /// Whether the account is logged in, and the file still has its version and name. It may have changed only if the
    /// account's epoch has.
    private func isCurrent(_ item: DiskItem, since epoch: Int64?, account: String, _ db: Database) throws -> Bool {
        guard let present = try Self.epoch(of: account, db) else { return false }
        guard let epoch, present != epoch else { return true }
        return try known(item.storedPath, account: account, db)?.version == item.version
    }

    static let finishDownload = """
        UPDATE disk_download SET status = 'done', bytes_done = ?, failure = NULL
        WHERE id = ? AND account = ? AND status = 'running'
        """
}
