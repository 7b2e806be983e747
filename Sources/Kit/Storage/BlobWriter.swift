public import Foundation
import Synchronization

/// A blob in the making. Chunks go to a file beside the others; ``finish(expectedLength:)`` gives it its name. A writer that is dropped leaves nothing.
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

    init(store: BlobStore, id: BlobID) throws {
        self.store = store
        self.id = id
        unfinishedPath = store.path(id) + BlobStore.unfinishedSuffix
        state = Mutex(.writing(try OpenFile(unfinishedPath, O_WRONLY | O_CREAT | O_EXCL), length: 0))
    }

    deinit {
        abort()
    }

    /// Adds bytes to the end.
    ///
    /// - Throws: ``StorageError/diskFull(path:)``, ``StorageError/bodyAlreadyFinished`` and other ``StorageError``s; then the writer is to be dropped.
    public func append(_ bytes: some DataProtocol) throws {
        try state.withLock { state in
            guard case .writing(let file, let length) = state else { throw StorageError.bodyAlreadyFinished }
            for region in bytes.regions {
                try region.withUnsafeBytes { try file.write($0) }
            }
            state = .writing(file, length: length + bytes.count)
        }
    }

    /// Brings the blob to the disk under its name. It is kept from now on if its row is written before the next start.
    ///
    /// - Parameter expectedLength: Bytes that were announced, such as by `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` when it has another length; nothing is kept then. Other ``StorageError``s.
    public func finish(expectedLength: Int? = nil) throws -> Blob {
        try state.withLock { state in
            guard case .writing(let file, let length) = state else { throw StorageError.bodyAlreadyFinished }
            if let expectedLength, expectedLength != length {
                throw StorageError.incompleteBody(expected: expectedLength, received: length)
            }
            try file.synchronize()
            guard rename(unfinishedPath, store.path(id)) == 0 else {
                throw StorageError.system(errno, path: unfinishedPath, operation: "rename")
            }
            state = .finished
            try OpenFile.synchronizeDirectory(store.folder)
            return Blob(id: id, length: length)
        }
    }

    /// Gives the blob up. Nothing happens to one that is finished.
    public func abort() {
        state.withLock { state in
            guard case .writing = state else { return }
            // A file that cannot be removed now is removed at the next start.
            unlink(unfinishedPath)
            state = .finished
        }
    }
}
