import Foundation
public import HTTPTypes
import Screens
public import Upstream

/// Files of the Disk for other apps: the composition root passes these functions on.
public struct DiskFiles: Sendable {
    /// The content of a file in transfer.
    public struct Content: Sendable {
        /// Name with extension.
        public var name: String
        /// Media type.
        public var type: String
        /// Number of bytes.
        public var length: Int
        /// The bytes, to be read once. Throws if not all of them arrive.
        public var parts: ByteStream
    }

    let accounts: DiskAccounts
    let items: ItemReader
    let files: StoredFiles
    let fetcher: FileFetcher
    let writer: WriteExecutor
    let sessions: SessionStore

    /// Returns the account that a request's bearer token of the Disk app opens.
    ///
    /// - Throws: 401 `session-required` or `session-expired`.
    public func account(of headerFields: HTTPFields) throws -> String {
        try sessions.session(for: headerFields, app: DiskApp.name).account
    }

    /// Reads a file, from the store if its present version is there.
    ///
    /// - Parameter path: A path such as `disk:/docs/a.pdf`.
    /// - Throws: `Problem`, `UpstreamFailure`, as the screens do.
    public func content(_ path: String, account: String) async throws -> Content {
        guard let path = DiskPath(path) else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        let account = try await accounts.account(account)
        let (row, result) = try await items.file(path, for: account, .useCache)
        let item = row.item
        if let stored = try await files.open(.content, of: item, account: account.id) {
            let content = stored.content(of: item, type: stored.type)
            let parts = try content.parts(0..<content.length)
            return Content(name: item.name, type: stored.type, length: content.length, parts: parts)
        }
        guard let size = item.size, !result.provenance.offline else { throw fetcher.client.unreachable }
        let parts = try await fetcher.whole(of: item, size: size, for: account)
        return Content(name: item.name, type: item.servedType, length: size, parts: parts)
    }

    /// Stores bytes as a file. Refused while the API is unreachable.
    ///
    /// - Parameter length: Number of bytes, if it is known.
    /// - Returns: Whether the file is there; false if the API has accepted it and continues.
    /// - Throws: `Problem`: `target-exists`, `offline-write-refused`, `outcome-unknown`, `not-found` for a missing
    ///   folder, and others.
    @discardableResult
    public func upload(_ parts: ByteStream, length: Int?, to path: String, overwrite: Bool = false, account: String)
        async throws -> Bool
    {
        guard let path = DiskPath(path), path.parent != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        try DiskPath.checkName(path.name)
        let account = try await accounts.account(account)
        let write = DiskWrite(kind: .upload(parts, length: length, overwrite: overwrite), path: path)
        if case .done = try await writer.run(write, for: account) { return true }
        return false
    }
}
