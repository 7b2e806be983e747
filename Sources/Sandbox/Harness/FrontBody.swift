import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The body of a client's request, of which the beginning is kept while the server reads it.
package final class FrontBody: Sendable {
    private struct State {
        var start: [UInt8] = []
        var count = 0
        var isOver = false
    }

    private let body: RequestBody
    private let fields: HTTPFields
    private let request: FrontRequest
    private let state = Mutex(State())

    init(_ request: Request, of entry: FrontRequest) {
        (body, fields, self.request) = (request.body, request.headers, entry)
    }

    /// The body as the server reads it.
    var parts: Parts { Parts(body: body, record: self) }

    /// Reads the rest of a short body that the server has not read, such as one of a request that it refused.
    package func readRest() async {
        let length = fields[.contentLength].flatMap { Int($0) }
        guard let length, length <= JournalBody.readLimit else { return }
        do {
            for try await _ in parts {}
        } catch {
            // The client has gone, or the server reads it in another task: what was read is recorded.
            return
        }
    }

    private func note(_ part: ByteBuffer?) {
        let ended = state.withLock { state -> State? in
            if let part {
                state.count += part.readableBytes
                state.start += part.readableBytesView.prefix(JournalBody.readLimit - state.start.count)
                return nil
            }
            defer { state.isOver = true }
            return state.isOver ? nil : state
        }
        guard let ended else { return }
        let shown = JournalBody(ended.start, of: ended.count, fields, request.journal.cleaner)
        request.journal.update(request.token) { $0.body = shown }
    }

    struct Parts: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            var base: RequestBody.AsyncIterator
            let record: FrontBody

            mutating func next() async throws -> ByteBuffer? {
                let part = try await base.next()
                record.note(part)
                return part
            }
        }

        let body: RequestBody
        let record: FrontBody

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: body.makeAsyncIterator(), record: record)
        }
    }
}

extension HTTPRequest {
    /// Whether it may have a body that no field announces, as in HTTP/2.
    var mayStream: Bool { ![.get, .head, .options, .delete, .trace].contains(method) }
}
