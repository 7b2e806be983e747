public import Foundation
import Synchronization

/// Writes a blob to an unfinished file, which ``finish(expectedLength:)`` gives its name. A writer that is released
/// before leaves nothing.
///
/// The calls block until the operating system has accepted the bytes.
public final class BlobWriter: Sendable {
    private enum State {
        case writing(OpenFile, length: Int, BlobChecksums)
        case finished
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
        state = Mutex(.writing(file, length: 0, BlobChecksums()))
    }

    deinit {
        abort()
    }

    /// Appends bytes. After an error the blob is discarded.
    ///
    /// - Throws: ``StorageError/diskFull(path:)``, ``StorageError/bodyAlreadyFinished`` and other ``StorageError``s.
    public func append(_ bytes: some DataProtocol) throws {
        try whileWriting { file, length, checksums in
            var checksums = checksums
            for region in bytes.regions {
                try region.withUnsafeBytes { try file.write($0) }
                checksums.append(region)
            }
            return (.writing(file, length: length + bytes.count, checksums), ())
        }
    }

    /// Synchronizes the blob to the disk and gives it its name. Without a row it is removed with its last reference.
    /// After an error it is discarded.
    ///
    /// - Parameter expectedLength: Announced length in bytes, such as that of `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` if it has another length; other ``StorageError``s.
    public func finish(expectedLength: Int? = nil) throws -> Blob {
        let (length, checksums) = try whileWriting { file, length, checksums in
            if let expectedLength, expectedLength != length {
                throw StorageError.incompleteBody(expected: expectedLength, received: length)
            }
            try file.synchronize()
            return (.finished, (length, checksums))
        }
        return try store.name(id, length: length, checksums)
    }

    /// Discards the blob. Does nothing if it is finished.
    public func abort() {
        state.withLock { discard(&$0) }
    }

    /// Runs a step. Any failure discards the blob, so that no body lacks a chunk in its middle.
    private func whileWriting<Result>(_ step: (OpenFile, Int, BlobChecksums) throws -> (State, Result)) throws
        -> Result
    {
        try state.withLock { state in
            guard case .writing(let file, let length, let checksums) = state else {
                throw StorageError.bodyAlreadyFinished
            }
            do {
                let (next, result) = try step(file, length, checksums)
                state = next
                return result
            } catch {
                discard(&state)
                throw error
            }
        }
    }

    private func discard(_ state: inout State) {
        guard case .writing = state else { return }
        // A file that cannot be removed now is removed at the next start.
        unlink(unfinishedPath)
        state = .finished
    }
}
