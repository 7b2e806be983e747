import Foundation
import HTTPTypes

extension ControlIndex {
    private static let filters = "route=&method=&path=&query=&header=&status=&since=&until=&request_id=&waiting="

    /// The controls of the server that is tested.
    static let ofHarness = harness + front + seed + snapshots + spaces + fixtures

    private static let harness = [
        Line(method: "GET", path: "/_harness", purpose: "the controls of Larder itself, and its clock"),
        Line(
            method: "POST",
            path: "/_harness/reset",
            purpose: "Larder, its clock and the simulated upstreams as with a new data directory; a request under way "
                + "gets 503"
        ),
        Line(method: "GET", path: "/_harness/clock", purpose: "the time of Larder and of the simulated upstreams"),
        Line(
            method: "PUT",
            path: "/_harness/clock",
            purpose: "sets the time, and whether it stands still; either may be left out",
            example: #"{"now":"2030-01-05T10:00:00Z","frozen":true}"#
        ),
        Line(
            method: "POST",
            path: "/_harness/clock/advance",
            purpose: "moves the time on; what has become due is done before the response",
            example: #"{"s":61}"#
        ),
        Line(
            method: "GET",
            path: "/_harness/journal?\(filters)&limit=&count=",
            purpose: "requests of clients, and how many of them wait for an upstream now; filters as in the journal of "
                + "the upstreams"
        ),
        Line(method: "DELETE", path: "/_harness/journal", purpose: "empties the journal of clients' requests"),
        Line(
            method: "GET",
            path: "/_harness/journal/wait?\(filters)&count=1&timeout_ms=5000",
            purpose: "responds once there are that many requests, 408 at the timeout; waiting=true counts those that "
                + "wait"
        ),
        Line(
            method: "POST",
            path: "/_harness/verify",
            purpose: "whether as many requests match as expected (exactly, at_least, at_most), else 417 with those "
                + "that come nearest, or 409 if that cannot be told of what is forgotten. match as in rules, but path "
                + "is the whole one, unless it ends with /**; upstream takes the journal of that one",
            example: #"{"match":{"method":"GET","path":"/v1/ships"},"exactly":1}"#
        ),
    ]
}

extension ControlProblem {
    static func resetFailed(_ reason: String) -> ControlProblem {
        ControlProblem(
            status: .internalServerError,
            code: "reset-failed",
            title: "Not reset",
            detail: "The state could not be reset: \(reason)."
        )
    }
}

extension ControlRequest {
    /// - Throws: 403 if a page from elsewhere made a browser send it.
    func requireLoopback() throws(ControlProblem) {
        guard let host = authority, LoopbackHost.matches(authority: host) else {
            throw .forbidden(field: "Host", value: authority)
        }
        if let origin = fetchOrigin, !LoopbackHost.matches(origin: origin) {
            throw .forbidden(field: "Origin", value: origin)
        }
    }

    /// - Throws: 400 if the query or body names anything.
    func requireNoMembers() throws(ControlProblem) {
        _ = try parameters()
        if !body.isEmpty { try ControlFields(try json()).requireNone() }
    }
}

extension ControlFields {
    static let timeForm = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The first second of the year 10000, whose times RFC 3339 does not have: a year has four digits there.
    static let endOfTime = Date(timeIntervalSince1970: 253_402_300_800)

    func time(_ name: String) throws(ControlProblem) -> Date? {
        guard let text = try text(name) else { return nil }
        for style in [Self.timeForm, Date.ISO8601FormatStyle()] {
            if let date = try? style.parse(text), date < Self.endOfTime, date >= Self.beginning { return date }
        }
        let accepted = "a time of RFC 3339, of the years 0001 to 9999, such as 2026-01-05T10:00:00Z"
        throw .invalid(field: name, value: String(text.prefix(60)), accepted: [accepted])
    }

    /// The first second of the year 1.
    private static let beginning = Date(timeIntervalSince1970: -62_135_596_800)

    func number(_ name: String, in range: ClosedRange<Double>) throws(ControlProblem) -> Double? {
        guard let value = self[name] else { return nil }
        guard case .number(let spelling) = value, let number = Double(spelling), range.contains(number) else {
            throw .invalid(
                field: name,
                value: String(decoding: value.serialized().prefix(60), as: UTF8.self),
                accepted: ["number \(Int(range.lowerBound))…\(Int(range.upperBound))"]
            )
        }
        return number
    }
}
