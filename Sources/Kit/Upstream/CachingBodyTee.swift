import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Storage

/// Keeps a body while it passes by: in memory while it is small, then in a file. It is stored whole, or not at all.
///
/// A body that cannot be kept is passed on all the same: the cache is a help, not a condition.
final class CachingBodyTee: Sendable {
    /// Makes a finished body known; nil for one that is larger than may be stored.
    typealias Save = @Sendable (StoredBody?) async throws -> Void

    private enum State {
        case memory(Data)
        case file(BlobWriter, count: Int)
        case tooLarge
        case over
    }

    private let state = NIOLockedValueBox(State.memory(Data()))
    private let announced: Int?
    private let limit: Int
    private let database: LarderDatabase
    private let logger: Logger
    private let save: Save

    /// - Parameters:
    ///   - announced: length of the body where it is known.
    ///   - limit: bytes beyond which it is given up.
    ///   - save: told how it ended, where it ended well.
    init(announced: Int?, limit: Int, _ upstream: Upstream, save: @escaping Save) {
        self.announced = announced
        self.limit = limit
        database = upstream.database
        logger = upstream.logger
        self.save = save
    }

    /// Takes the next part.
    func append(_ part: ByteBuffer) {
        state.withLockedValue { state in
            do {
                switch state {
                case .memory(var bytes):
                    state = .over  // So that the bytes are not copied.
                    bytes.append(contentsOf: part.readableBytesView)
                    guard bytes.count <= limit else {
                        state = .tooLarge
                        return
                    }
                    state = bytes.count > BlobStore.inlineLimit ? try spill(bytes) : .memory(bytes)
                case .file(let writer, let count):
                    guard count + part.readableBytes <= limit else {
                        writer.abort()
                        state = .tooLarge
                        return
                    }
                    try writer.append(Data(part.readableBytesView))
                    state = .file(writer, count: count + part.readableBytes)
                case .tooLarge, .over: break
                }
            } catch {
                state = .over
                logger.warning("a body could not be kept", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The body is whole. False where it was given up before, or is not as long as was announced.
    @discardableResult
    func finish() async throws -> Bool {
        let last = state.withLockedValue { state in
            defer { state = .over }
            return state
        }
        switch last {
        case .over: return false
        case .tooLarge:
            try await save(nil)
            return false
        case .memory(let bytes):
            guard bytes.count == announced ?? bytes.count else { return false }
            try await save(.bytes(bytes))
        case .file(let writer, _):
            let blob = try writer.finish(expectedLength: announced)
            do {
                try await save(.blob(blob))
            } catch {
                database.blobs.discard(blob)
                throw error
            }
        }
        return true
    }

    /// The same, where failing to store is no failure to answer.
    func finishOrGiveUp() async -> Bool {
        do {
            return try await finish()
        } catch {
            logger.warning("an answer could not be stored", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// A body that is kept while it is read. Its last announced part is given out when all is stored, so that whoever
    /// has it whole finds it in the store.
    func keeping(_ body: ByteStream, _ flight: MountFlight?, health: UpstreamHealth) -> ByteStream {
        ByteStream { [self] in
            let iterator = body.makeAsyncIterator()
            var received = 0
            var isOver = false
            return { [self] in
                do {
                    let part = try await iterator.next()
                    received += part?.readableBytes ?? 0
                    if let part { append(part) }
                    if !isOver, part == nil || received == announced {
                        isOver = true
                        let isStored = await finishOrGiveUp()
                        flight?.complete(isStored ? .stored : .notStored)
                    }
                    return part
                } catch {
                    giveUp()
                    flight?.complete(.notStored)
                    if !Task.isCancelled { health.failed(UpstreamError.cutShort) }
                    throw error
                }
            }
        }
    }

    private func giveUp() {
        state.withLockedValue { state in
            if case .file(let writer, _) = state { writer.abort() }
            state = .over
        }
    }

    private func spill(_ bytes: Data) throws -> State {
        let writer = try database.blobs.writer()
        try writer.append(bytes)
        return .file(writer, count: bytes.count)
    }
}
