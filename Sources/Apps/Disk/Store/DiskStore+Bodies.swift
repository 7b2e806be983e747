import Database
import Foundation
import GRDB
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import ResponseStore
import Upstream

// Bodies of files, small pictures and pages: stored responses named after the file's path, tagged with the version of
// the file. One of another version is ignored.
extension DiskStore {
    /// A body that is stored for a file.
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

    func isDownloaded(_ item: DiskItem, account: String, _ db: Database) throws -> Bool {
        guard let version = item.version else { return false }
        return try stored(.content, of: item.path, account: account, db).map { Self.version(of: $0) == version }
            ?? false
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

    /// Returns a stored body of the item's version; nil if there is none.
    func body(_ body: Body, of item: DiskItem, account: String) throws -> CachedResponse? {
        guard let version = item.version else { return nil }
        return try database.read { try stored(body, of: item.path, account: account, $0) }.flatMap {
            Self.version(of: $0) == version ? $0 : nil
        }
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
                url: Self.name(body, of: item.path),
                status: .ok,
                headerFields: [.contentType: type, .eTag: version],
                requestTime: now,
                responseTime: now
            ),
            body: stored
        )
        return try await database.write { [self] db in
            // Not for an account that was logged out, nor under a name that the file does not have any more.
            guard let present = try Self.account(account, db) else { return false }
            if let epoch, present.epoch != epoch,
                try Row.fetchOne(db, sql: Self.selectItem, arguments: [account, item.path.text]).flatMap(DiskItem.init)?
                    .version != version
            {
                return false
            }
            if let job {
                try db.execute(sql: Self.finishDownload, arguments: [stored.count, job, account])
                guard db.changesCount > 0 else { return false }
            }
            try responses.save(response, in: db)
            bump(account, after: db)
            return true
        }
    }

    static let finishDownload = """
        UPDATE disk_download SET status = 'done', bytes_done = ?, failure = NULL
        WHERE id = ? AND account = ? AND status = 'running'
        """
}
