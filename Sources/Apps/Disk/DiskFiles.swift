import Concurrency
import Foundation
import HTTP
import NIOCore
import Screens
import Storage
import Upstream

/// Files of the Disk for other apps, which get them as ``AccountFiles``.
struct DiskFiles: Sendable {
    let disk: Disk

    /// Reads a file, from the store if its current version is stored. The whole of it is to be read once.
    ///
    /// - Parameter path: A path such as `disk:/docs/a.pdf`.
    /// - Throws: `Problem`, `UpstreamFailure`, as the screens do.
    func content(_ path: String, _ session: Session) async throws -> FileContent {
        guard let path = DiskPath(path) else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        let account = try await disk.account(of: session)
        let (row, result) = try await disk.pending.file(path, for: account, .useCache)
        if let stored = try await disk.files.open(.content, of: row.item, account: account.id) {
            return stored.content(of: row.item, type: stored.type)
        }
        guard !result.provenance.offline else { throw disk.client.unreachable }
        let item = try await disk.pending.presentVersion(of: row.item, result, for: account)
        guard let size = item.size else { throw disk.client.sizeMissing }
        let parts = try await disk.fetcher.whole(of: item, size: size, for: account)
        return item.content(type: item.servedType, length: size) { _ in parts }
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
        let account = try await disk.account(of: session)
        let write = DiskWrite(kind: .upload(parts, length: length, overwrite: overwrite), path: path)
        if case .underWay = try await disk.run(write, for: account) { return false }
        return true
    }
}

extension AccountFiles {
    init(_ files: DiskFiles) {
        self.init(
            app: DiskApp.name,
            fetch: { path, session, folder, maximumBytes in
                let content = try await files.content(path, session)
                return try await Self.fetched(content, to: folder.file(), maximumBytes: maximumBytes)
            },
            store: { path, session, document in
                let parts = try document.parts(0..<document.length)
                try await files.upload(parts, length: document.length, to: path, session)
                return path
            }
        )
    }

    /// Writes a content to a file.
    ///
    /// - Throws: 413 `too-large`; `Problem`, `UpstreamFailure`, `StorageError` of the content.
    private static func fetched(
        _ content: FileContent,
        to file: @autoclosure () throws -> ScratchFile,
        maximumBytes: Int
    ) async throws -> Fetched {
        let name = content.fileName ?? ""
        guard content.length <= maximumBytes else {
            throw Problem(.tooLarge, "\(name) has \(content.length) bytes; \(maximumBytes) are accepted.")
        }
        let file = try file()
        var beginning: [UInt8] = []
        for try await part in try content.parts(0..<content.length) {
            let bytes = part.readableBytesView
            beginning += bytes.prefix(Self.beginningBytes - beginning.count)
            try file.append(bytes)
        }
        // Written to the file before a child process reads it by its path.
        return Fetched(name: name, file: file, beginning: beginning)
    }
}
