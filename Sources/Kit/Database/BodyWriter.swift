public import Foundation
import Synchronization

/// Takes a body of unknown length: in memory while it is small, from ``BlobStore/inlineLimit`` bytes on in a file.
///
/// A writer that is dropped leaves nothing. The calls block until the operating system has taken the bytes.
public final class BodyWriter: Sendable {
    private enum State {
        case memory(Data)
        case file(BlobWriter)
        case finished
    }

    private let blobs: BlobStore
    private let inlineLimit: Int
    private let state = Mutex(State.memory(Data()))

    /// Begins a body. Bodies of more than `inlineLimit` bytes become blobs of `blobs`.
    public init(blobs: BlobStore, inlineLimit: Int = BlobStore.inlineLimit) {
        self.blobs = blobs
        self.inlineLimit = inlineLimit
    }

    /// Adds bytes to the end. After an error the body is given up.
    ///
    /// - Throws: ``StorageError``.
    public func append(_ bytes: some DataProtocol) throws {
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

    /// The whole body, ready to be stored with its response.
    ///
    /// - Parameter expectedLength: Bytes that were announced, such as by `Content-Length`.
    /// - Throws: ``StorageError/incompleteBody(expected:received:)`` when it has another length; nothing is kept then.
    ///   Other ``StorageError``s.
    public func finish(expectedLength: Int? = nil) throws -> StoredBody {
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
