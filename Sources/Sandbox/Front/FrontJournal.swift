package import Foundation
package import HTTPTypes
import Hummingbird
import JSONValues
import NIOCore
import Synchronization

/// The requests that clients have sent to the server that is tested, oldest first; at most the last 10,000.
package final class FrontJournal: Sendable {
    /// The name of the server in the entries, in place of an upstream's.
    static let name = "larder"

    let journal = Journal()

    package init() {}

    /// Records a request that has arrived.
    ///
    /// - Parameter faults: The faults of the server.
    package func begin(_ head: HTTPRequest, at now: Date, _ faults: FrontFaults) -> FrontRequest {
        let admission = faults.admit(head)
        var entry = JournalEntry(head, upstream: Self.name, at: now, journal.cleaner)
        entry.fault = admission?.plan.description ?? ""
        // Requests in the journal can be released.
        let (token, ticket) = journal.record(entry) { number in
            admission?.decision.isHeld == true ? faults.gate.hold(sequence: number) : nil
        }
        let fault = admission.map { FrontFault(faults: faults, head: head, admission: $0, ticket: ticket) }
        return FrontRequest(journal: journal, token: token, fault: fault)
    }

    /// Removes all entries, and counts from 1 again.
    package func clear() { journal.clear() }
}

extension JournalEntry {
    /// As the front journal shows it.
    var frontJSON: JSONValue {
        var object = json.object ?? JSONObject()
        for ofUpstreams in ["upstream", "cause", "rule"] { object[ofUpstreams] = nil }
        object["waiting"] = .bool(isWaiting)
        return .object(object)
    }
}

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

    /// The body, which is recorded while the server reads it.
    var parts: Parts { Parts(body: body, record: self) }

    /// Reads the rest of a short body that the server has not read, such as one of a request that it refused.
    package func readRest() async {
        let length = fields[.contentLength].flatMap { Int($0) }
        guard let length, length <= JournalBody.readLimit else { return }
        do {
            for try await _ in parts {}
        } catch {
            // The client has disconnected, or the server reads the body in another task. The part that was read is
            // recorded.
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

// The journal of clients' requests.
extension HarnessAPI {
    var journalCalls: JournalCalls {
        JournalCalls(journal: front.journal, isFront: true, clock: clock) { (parameters) throws(ControlProblem) in
            var filter = try JournalQuery.filter(parameters)
            filter.route = try FrontRoute.match(in: parameters, of: server.served)
            return filter
        }
    }

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        guard request.method == .delete else { return try journalCalls.list(request) }
        try request.requireNoMembers()
        front.clear()
        return .json(.ok, ["entries": [], "count": 0, "waiting": 0, "dropped": 0])
    }
}
