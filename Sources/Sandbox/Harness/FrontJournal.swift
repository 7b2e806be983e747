package import Foundation
package import HTTPTypes
package import Hummingbird

/// The requests that clients have sent to the server that is tested, oldest first; at most the last 10,000.
package final class FrontJournal: Sendable {
    /// What the entries have in place of the name of an upstream.
    static let name = "larder"

    let journal = Journal()

    /// Creates an empty journal.
    package init() {}

    /// Records a request that has arrived.
    ///
    /// - Parameter faults: What is wrong with the server.
    package func begin(_ head: HTTPRequest, at now: Date, _ faults: FrontFaults) -> FrontRequest {
        let admission = faults.admit(head)
        var entry = JournalEntry(head, upstream: Self.name, at: now, journal.cleaner)
        entry.fault = admission?.plan.description ?? ""
        // What is in the journal can be released.
        let (token, ticket) = journal.record(entry) { number in
            admission?.decision.isHeld == true ? faults.gate.hold(sequence: number) : nil
        }
        let fault = admission.map { FrontFault(faults: faults, head: head, admission: $0, ticket: ticket) }
        return FrontRequest(journal: journal, token: token, fault: fault)
    }

    /// Removes all entries, and counts from 1 again.
    package func clear() { journal.clear() }
}

/// A request of the ``FrontJournal``.
package struct FrontRequest: Sendable {
    let journal: Journal
    let token: Journal.Token
    /// What happens to it; nil if nothing does.
    let fault: FrontFault?

    /// Its number in the journal.
    package var number: Int { token.sequence }

    /// Whether it has a fault.
    package var isFaulty: Bool { fault != nil }

    /// Records that it begins to wait for an upstream, or waits no more.
    package func waits(_ isWaiting: Bool) { journal.update(token) { $0.waits += isWaiting ? 1 : -1 } }

    /// Returns a request whose body is recorded while it is read, and what records it; nil without a body.
    package func recording(_ request: Request) -> (Request, FrontBody?) {
        let length = request.headers[.contentLength]
        guard length != "0", length != nil || request.headers.contains(.transferEncoding) || request.head.mayStream
        else {
            return (request, nil)
        }
        let body = FrontBody(request, of: self)
        var request = request
        request.body = RequestBody(asyncSequence: body.parts)
        return (request, body)
    }

    /// Records its response.
    package func complete(_ response: HTTPResponse, bytes: Int?, at now: Date) {
        journal.update(token) { entry in
            entry.respond(response.status.code, bytes: bytes, at: now)
            entry.assignedID = HTTPField.Name("X-Request-Id").flatMap { response.headerFields[$0] }
        }
    }
}

extension JournalEntry {
    /// As the front journal shows it.
    var frontJSON: JSONValue {
        let ofUpstreams: Set = ["upstream", "cause", "rule"]
        var members = json.object?.members.filter { !ofUpstreams.contains($0.name) } ?? []
        members.append(.init(name: "waiting", value: .bool(isWaiting)))
        return .object(JSONObject(members: members))
    }
}
