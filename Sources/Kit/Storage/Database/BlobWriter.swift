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
