package import Foundation
import Synchronization

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

    /// Creates a writer of one body.
    ///
    /// - Parameters:
    ///   - blobs: Stores the body if it is large.
    ///   - inlineLimit: Most bytes that stay in memory.
    package init(blobs: BlobStore, inlineLimit: Int = BlobStore.inlineLimit) {
        self.blobs = blobs
        self.inlineLimit = inlineLimit
    }

    /// Appends bytes. After an error the body is discarded.
    ///
    /// - Throws: ``StorageError``.
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
