public import Foundation
public import HTTPTypes

/// The requests that clients have sent to the server that is tested, oldest first; at most the last 10,000.
public final class FrontJournal: Sendable {
    /// What the entries have in place of the name of an upstream.
    static let name = "larder"

    let journal = Journal()

    /// Creates an empty journal.
    public init() {}

    /// Records a request that has arrived.
    public func begin(_ head: HTTPRequest, at now: Date) -> FrontRequest {
        FrontRequest(journal: journal, token: journal.record(JournalEntry(head, upstream: Self.name, at: now)))
    }

    /// Removes all entries, and counts from 1 again.
    public func clear() { journal.clear() }
}

/// A request of the ``FrontJournal``.
public struct FrontRequest: Sendable {
    let journal: Journal
    let token: Journal.Token

    /// Its number in the journal.
    public var number: Int { token.sequence }

    /// Records that it begins to wait for an upstream, or waits no more.
    public func waits(_ isWaiting: Bool) { journal.update(token) { $0.waits += isWaiting ? 1 : -1 } }

    /// Records its response.
    public func complete(_ response: HTTPResponse, bytes: Int?, at now: Date) {
        journal.update(token) { entry in
            entry.respond(response.status.code, bytes: bytes, at: now)
            entry.assignedID = HTTPField.Name("X-Request-Id").flatMap { response.headerFields[$0] }
        }
    }
}

extension JournalEntry {
    /// As the front journal shows it.
    var frontJSON: JSONValue {
        let ofUpstreams: Set = ["upstream", "cause", "fault", "rule"]
        var members = json.object?.members.filter { !ofUpstreams.contains($0.name) } ?? []
        members.append(.init(name: "waiting", value: .bool(isWaiting)))
        return .object(JSONObject(members: members))
    }
}
