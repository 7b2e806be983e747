import Concurrency
import Foundation
import HTTP
import Screens
import Upstream

/// Files of the Disk for other apps, which get them as ``AccountFiles``.
struct DiskFiles: Sendable {
    /// The content of a file in transfer.
    struct Content: Sendable {
        /// Name with extension.
        var name: String
        /// Media type.
        var type: String
        /// Number of bytes.
        var length: Int
        /// The bytes, to be read once. Throws if not all of them arrive.
        var parts: ByteStream
    }

    let accounts: DiskAccounts
    let items: ProjectedItems
    let files: StoredFiles
    let fetcher: FileFetcher
    let writer: WriteExecutor

    /// Reads a file, from the store if its current version is stored.
    ///
    /// - Parameter path: A path such as `disk:/docs/a.pdf`.
    /// - Throws: `Problem`, `UpstreamFailure`, as the screens do.
    func content(_ path: String, _ session: Session) async throws -> Content {
        guard let path = DiskPath(path) else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        let account = try await accounts.account(of: session)
        let (row, result) = try await items.file(path, for: account, .useCache)
        if let stored = try await files.open(.content, of: row.item, account: account.id) {
            let content = stored.content(of: row.item, type: stored.type)
            let parts = try content.parts(0..<content.length)
            return Content(name: row.item.name, type: stored.type, length: content.length, parts: parts)
        }
        guard !result.provenance.offline else { throw fetcher.client.unreachable }
        let item = try await items.presentVersion(of: row.item, result, for: account)
        guard let size = item.size else { throw fetcher.client.sizeMissing }
        let parts = try await fetcher.whole(of: item, size: size, for: account)
        return Content(name: item.name, type: item.servedType, length: size, parts: parts)
    }

    /// Stores bytes as a file. Refused while the API is unreachable.
    ///
    /// - Parameter length: Number of bytes, if it is known.
    /// - Returns: Whether the file exists; false if the API has accepted it and continues.
    /// - Throws: `Problem`: `target-exists`, `offline-write-refused`, `outcome-unknown`, `not-found` for a missing
    ///   folder, and others.
    @discardableResult
    func upload(
        _ parts: ByteStream,
        length: Int?,
        to path: String,
        overwrite: Bool = false,
        _ session: Session
    ) async throws -> Bool {
        guard let path = DiskPath(path), path.parent != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        try DiskPath.checkName(path.name)
        let account = try await accounts.account(of: session)
        let write = DiskWrite(kind: .upload(parts, length: length, overwrite: overwrite), path: path)
        if case .underWay = try await writer.run(write, for: account) { return false }
        return true
    }
}
