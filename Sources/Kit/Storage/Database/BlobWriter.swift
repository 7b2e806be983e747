package import Foundation
import Synchronization

/// Writes a blob to an unfinished file, which ``finish(expectedLength:)`` gives its name. A writer that is released
/// before leaves nothing.
///
/// The calls block until the operating system has accepted the bytes.
package final class BlobWriter: Sendable {
    private struct State {
        /// Nil once the blob is finished or discarded.
        var file: OpenFile?
        var checksums = BlobChecksums()
    }

    private let store: BlobStore
    private let id: BlobID
    private let unfinishedPath: String
    private let state: Mutex<State>

    convenience init(store: BlobStore, id: BlobID) throws {
        try self.init(
            store: store,
            id: id,
            file: OpenFile(store.unfinishedPath(id), O_WRONLY | O_CREAT | O_EXCL)
        )
    }

    init(store: BlobStore, id: BlobID, file: OpenFile) {
        self.store = store
        self.id = id
        unfinishedPath = file.path
        state = Mutex(State(file: file))
    }

    deinit {
        abort()
    }

    /// Appends bytes. After an error the blob is discarded.
    ///
    /// - Throws: ``StorageError/diskFull(path:)``, ``StorageError/bodyAlreadyFinished`` and other ``StorageError``s.
    package func append(_ bytes: some DataProtocol) throws {
        try whileWriting { file, state in
            for region in bytes.regions {
                try region.withUnsafeBytes { try file.write($0) }
                state.checksums.append(region)
            }
        }
    }

    /// Synchronizes the blob to the disk and gives it its name. Without a row it is removed with its last reference.
    /// After an error it is discarded.
    ///
    /// - Parameter expectedLength: Announced length in bytes, such as that of `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` if it has another length; other ``StorageError``s.
    package func finish(expectedLength: Int? = nil) throws -> Blob {
        let checksums = try whileWriting { file, state in
            if let expectedLength, expectedLength != state.checksums.length {
                throw StorageError.incompleteBody(expected: expectedLength, received: state.checksums.length)
            }
            try file.synchronize()
            state.file = nil
            return state.checksums
        }
        return try store.name(id, checksums)
    }

    /// Discards the blob. Does nothing if it is finished.
    package func abort() {
        state.withLock { discard(&$0) }
    }

    /// Runs a step. Any failure discards the blob, so that no body lacks a chunk in its middle.
    private func whileWriting<Result: Sendable>(_ step: (OpenFile, inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            guard let file = state.file else { throw StorageError.bodyAlreadyFinished }
            do {
                return try step(file, &state)
            } catch {
                discard(&state)
                throw error
            }
        }
    }

    private func discard(_ state: inout State) {
        guard state.file != nil else { return }
        // A file that cannot be removed now is removed at the next start.
        unlink(unfinishedPath)
        state.file = nil
    }
}

/// Collects a body of unknown length: in memory up to ``BlobStore/inlineLimit`` bytes, else in a file.
///
/// A writer that is released before it has finished leaves nothing. The calls block until the operating system has
/// accepted the bytes.
package final class BodyWriter: Sendable {
    private enum State {
        case memory(Data)
        case file(BlobWriter)
        case finished
    }

    private let blobs: BlobStore
    private let inlineLimit: Int
    private let state = Mutex(State.memory(Data()))

    /// - Parameters:
    ///   - blobs: Stores the body if it is large.
    ///   - inlineLimit: Most bytes that stay in memory.
    package init(blobs: BlobStore, inlineLimit: Int = BlobStore.inlineLimit) {
        self.blobs = blobs
        self.inlineLimit = inlineLimit
    }

    /// Appends bytes. After an error the body is discarded.
    package func append(_ bytes: some DataProtocol) throws {
        try state.withLock { state in
            switch state {
            case .memory(var data):
                // Drops the second reference, so that appending copies nothing. An error leaves this state.
                state = .finished
                if data.count + bytes.count <= inlineLimit {
                    data.append(contentsOf: bytes)
                    state = .memory(data)
                } else {
                    let writer = try blobs.writer()
                    try writer.append(data)
                    try writer.append(bytes)
                    state = .file(writer)
                }
            case .file(let writer): try writer.append(bytes)
            case .finished: throw StorageError.bodyAlreadyFinished
            }
        }
    }

    /// Ends the body and returns it, ready to be stored with its response.
    ///
    /// - Parameter expectedLength: Announced length in bytes, such as that of `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` if it has another length; nothing is kept then.
    ///   Other ``StorageError``s.
    package func finish(expectedLength: Int? = nil) throws -> StoredBody {
        try state.withLock { state in
            let body: StoredBody
            switch state {
            case .memory(let data):
                if let expectedLength, expectedLength != data.count {
                    throw StorageError.incompleteBody(expected: expectedLength, received: data.count)
                }
                body = .bytes(data)
            case .file(let writer): body = .blob(try writer.finish(expectedLength: expectedLength))
            case .finished: throw StorageError.bodyAlreadyFinished
            }
            state = .finished
            return body
        }
    }
}

/// Owns the file of a finished blob until a committed row names it. Without such a row the file is removed with the
/// last reference.
///
/// A file is unlinked at once only if its id was in no transaction that may have been committed. SQLite can report a
/// failure of a commit whose frames are already complete in the write-ahead log, for instance if the fsync after them
/// fails. After a kill, the next start finds that transaction committed. In that case ``BlobRemoval`` decides later.
///
/// Until then the file has its unfinished name, too, so that the next start finds it if the process is killed. The
/// finished name is removed first, so an interrupted removal leaves an unfinished file.
final class BlobClaim: Sendable {
    private enum State {
        /// No row was written, or its transaction has certainly been rolled back.
        case unnamed
        /// A transaction has written a row, and has not ended.
        case attempted
        /// A transaction with its row ended, and whether it was committed is not known.
        case doubtful
        /// A committed row names it, or it was discarded: nothing remains to be done.
        case settled
    }

    let id: BlobID
    let checksums: BlobChecksums
    private let removal: BlobRemoval
    private let state = Mutex(State.unnamed)

    init(_ id: BlobID, _ checksums: BlobChecksums, removal: BlobRemoval) {
        self.id = id
        self.checksums = checksums
        self.removal = removal
    }

    deinit {
        discard()
    }

    /// Records that a transaction has written a row that names the file.
    func attempt() {
        state.withLock { if case .unnamed = $0 { $0 = .attempted } }
    }

    /// Records how the transaction ended.
    func settle(_ outcome: BlobRemoval.Outcome) {
        state.withLock { state in
            switch (state, outcome) {
            case (.attempted, .committed), (.doubtful, .committed):
                state = .settled
                removal.settle(id)
            case (.attempted, .rolledBack): state = .unnamed
            case (.attempted, .unknown): state = .doubtful
            // The end of a later transaction says nothing about an earlier one.
            case (.doubtful, _), (.unnamed, _), (.settled, _): break
            }
        }
    }

    /// Removes the file unless a row names it or may name it.
    func discard() {
        let last = state.withLock { state in
            defer { state = .settled }
            return state
        }
        switch last {
        case .unnamed: if !removal.removeFile(id) { removal.doubt(id) }
        case .attempted, .doubtful: removal.doubt(id)
        case .settled: break
        }
    }
}

extension BlobStore {
    /// Turns a finished file, such as the output of a child process, into a blob.
    ///
    /// The file is fsynced and renamed, so it must be in a ``ScratchFolder`` of the same data directory. Without a row
    /// it is removed with its last reference, or at the next start.
    ///
    /// - Throws: ``StorageError``, also if the file is missing or a symbolic link.
    package func adopt(_ place: TemporaryPath) throws -> Blob {
        let file = try OpenFile(place.path, O_RDONLY | O_NOFOLLOW)
        try StorageError.check("fchmod", place.path) { fchmod(file.descriptor, 0o600) }
        try file.synchronize()
        let checksums = try BlobChecksums(of: file)
        let id = BlobID.random()
        try StorageError.check("rename", place.path) { rename(place.path, unfinishedPath(id)) }
        return try name(id, checksums)
    }

    /// Gives a finished file its name beside the unfinished one, by which the next start finds it if the process is
    /// killed before a row names it.
    ///
    /// - Throws: ``StorageError``; the file is removed then.
    func name(_ id: BlobID, _ checksums: BlobChecksums) throws -> Blob {
        let claim = BlobClaim(id, checksums, removal: removal)
        if link(unfinishedPath(id), path(id)) != 0 {
            // Some network file systems and FAT have no links: there a file may remain without a row.
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), rename(unfinishedPath(id), path(id)) == 0 else {
                throw StorageError.system(errno, path: path(id), operation: "link")
            }
        }
        try OpenFile.synchronizeDirectory(folder)
        return Blob(id: id, length: checksums.length, claim: claim)
    }

    /// Returns the path of a blob's file, for a child process that reads it. The file may be removed at any moment,
    /// with the blob's row.
    package func filePath(of blob: Blob) -> String { path(blob.id) }

    /// Gives a blob's file a second name in a folder of the same file system. It can be read there even if the blob is
    /// deleted meanwhile, and takes no space of its own.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if the file is missing; other ``StorageError``s.
    package func hold(_ blob: Blob, in folder: ScratchFolder) throws -> TemporaryPath {
        let place = folder.place()
        guard link(path(blob.id), place.path) == 0 else {
            let code = errno
            if code == ENOENT { throw StorageError.blobUnavailable(blob.id) }
            throw StorageError.system(code, path: place.path, operation: "link")
        }
        return place
    }
}
