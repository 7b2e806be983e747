public import Foundation
import Synchronization

/// A blob in the making. Chunks go to a file beside the others; ``finish(expectedLength:)`` gives it its name. A writer
/// that is dropped leaves nothing.
///
/// The calls block until the operating system has taken the bytes.
public final class BlobWriter: Sendable {
    private enum State {
        case writing(OpenFile, length: Int)
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
            file: OpenFile(store.path(id) + BlobStore.unfinishedSuffix, O_WRONLY | O_CREAT | O_EXCL)
        )
    }

    init(store: BlobStore, id: BlobID, file: OpenFile) {
        self.store = store
        self.id = id
        unfinishedPath = file.path
        state = Mutex(.writing(file, length: 0))
    }

    deinit {
        abort()
    }

    /// Adds bytes to the end. After an error the blob is given up.
    ///
    /// - Throws: ``StorageError/diskFull(path:)``, ``StorageError/bodyAlreadyFinished`` and other ``StorageError``s.
    public func append(_ bytes: some DataProtocol) throws {
        try whileWriting { file, length in
            for region in bytes.regions {
                try region.withUnsafeBytes { try file.write($0) }
            }
            return (.writing(file, length: length + bytes.count), ())
        }
    }

    /// Brings the blob to the disk under its name. Without a row it goes with its last reference. After an error it is
    /// given up.
    ///
    /// - Parameter expectedLength: Bytes that were announced, such as by `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` when it has another length; other
    ///   ``StorageError``s.
    public func finish(expectedLength: Int? = nil) throws -> Blob {
        try whileWriting { file, length in
            if let expectedLength, expectedLength != length {
                throw StorageError.incompleteBody(expected: expectedLength, received: length)
            }
            try file.synchronize()
            return (.finished, try store.name(unfinishedPath, id, length: length))
        }
    }

    /// Gives the blob up. Nothing happens to one that is finished.
    public func abort() {
        state.withLock { giveUp(&$0) }
    }

    /// A chunk that was lost shall not go unnoticed in a body that ends well: whatever fails ends the blob.
    private func whileWriting<Result>(_ step: (OpenFile, Int) throws -> (State, Result)) throws -> Result {
        try state.withLock { state in
            guard case .writing(let file, let length) = state else { throw StorageError.bodyAlreadyFinished }
            do {
                let (next, result) = try step(file, length)
                state = next
                return result
            } catch {
                giveUp(&state)
                throw error
            }
        }
    }

    private func giveUp(_ state: inout State) {
        guard case .writing = state else { return }
        // A file that cannot be removed now is removed at the next start.
        unlink(unfinishedPath)
        state = .finished
    }
}
