import Foundation
public import HTTPTypes
import Screens
public import Upstream

/// Files of the Disk for other apps, which know nothing of it: the composition root hands these functions on.
public struct DiskFiles: Sendable {
    /// A file's content on its way.
    public struct Content: Sendable {
        /// Name with extension.
        public var name: String
        /// Media type.
        public var type: String
        /// Bytes of it.
        public var length: Int
        /// The bytes; to be read once. Ends early with an error where not all of it comes.
        public var parts: ByteStream
    }

    private let service: DiskService

    /// The files of an app.
    public init(_ service: DiskService) {
        self.service = service
    }

    /// The account that a request's bearer token of the Disk app opens. 401 without one.
    public func account(of headerFields: HTTPFields) throws -> String {
        try service.sessions.session(for: headerFields, app: "disk").account
    }

    /// Reads a file, from the store where its present version is there. `path` as in `disk:/docs/a.pdf`.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, as the screens do.
    public func content(_ path: String, account: String) async throws -> Content {
        guard let path = DiskPath(path) else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        let account = try await service.account(account)
        let (row, reading) = try await service.fileItem(path, account, .useCache)
        let item = row.item
        if let (stored, type) = try await service.openStored(.content, of: item, account.id) {
            let file = try service.file(item, stored, type)
            return Content(name: item.name, type: type, length: file.length, parts: try file.parts(0..<file.length))
        }
        guard let size = item.size, !reading.provenance.offline else {
            throw UpstreamFailure(.unreachable(.network), of: service.api.upstream)
        }
        return Content(
            name: item.name,
            type: DiskService.type(of: item),
            length: size,
            parts: try await service.keeping(item, size: size, account)
        )
    }

    /// Stores bytes as a file. Refused while the upstream is out of reach.
    ///
    /// - Parameter length: bytes of it where they are known.
    /// - Returns: true when it is there; false when the upstream has taken it and goes on with it.
    /// - Throws: `Problem`: `target-exists`, `offline-write-refused`, `outcome-unknown`, `not-found` for a missing
    ///   folder, and others.
    @discardableResult
    public func upload(_ parts: ByteStream, length: Int?, to path: String, overwrite: Bool = false, account: String)
        async throws -> Bool
    {
        guard let path = DiskPath(path), path.parent != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        try DiskService.checkName(path.name)
        let account = try await service.account(account)
        let write = DiskWrite(kind: .upload(parts, length: length, overwrite: overwrite), path: path)
        if case .done = try await service.run(write, account) { return true }
        return false
    }
}
