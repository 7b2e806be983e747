import DequeModule
package import Foundation
package import Upstream

/// An event of `GET /v1/events`.
package struct ServerEvent: Sendable, Equatable {
    /// Who may receive an event.
    package enum Audience: Sendable, Hashable {
        case everyone
        case app(String)
        /// Listeners with a session of this account.
        case account(app: String, account: String)
        /// Listeners of a profile of an app without a login.
        case profile(app: String, profile: String)
    }

    /// Value of the `event` field: `connectivity`, `screen-changed`, `job`.
    package let kind: String
    /// Value of the `data` field: one line of JSON.
    package let json: String
    package let audience: Audience

    /// A value in an event's data.
    package enum Value: Sendable, Equatable {
        /// A text of identifiers and times: printable ASCII. Anything else is left out, so that the line stays JSON.
        case text(String)
        case number(Int)
        case flag(Bool)
        case fraction(Double)

        private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
            (0x20...0x7E).contains(scalar.value) && scalar != "\"" && scalar != "\\"
        }

        var json: String {
            switch self {
            case .text(let text):
                "\"" + String(String.UnicodeScalarView(text.unicodeScalars.filter(Self.isHarmless))) + "\""
            case .number(let number): String(number)
            case .flag(let flag): flag ? "true" : "false"
            case .fraction(let fraction): "\(fraction)"
            }
        }
    }

    /// Has clients request every screen again: events of other servers may have been lost.
    static let reset = ServerEvent(
        kind: "reset",
        json: #"{"reason":"events of other servers may have been lost"}"#,
        audience: .everyone
    )

    init(kind: String, json: String, audience: Audience) {
        (self.kind, self.json, self.audience) = (kind, json, audience)
    }

    /// An event with data of its own, as an object of these members.
    package init(kind: String, data: [(name: String, value: Value)], audience: Audience) {
        self.kind = kind
        json = "{" + data.map { "\"\($0.name)\":\($0.value.json)" }.joined(separator: ",") + "}"
        self.audience = audience
    }

    /// An upstream became unreachable, or reachable again.
    package static func connectivity(upstream: String, reachable: Bool, at instant: Date) -> ServerEvent {
        ServerEvent(
            kind: "connectivity",
            data: [
                ("upstream", .text(upstream)), ("reachable", .flag(reachable)), ("offline", .flag(!reachable)),
                ("at", .text(WireFormat.timestamp(instant))),
            ],
            audience: .everyone
        )
    }

    /// The event of an outage that has not ended; nil if the upstream is reachable.
    package static func outage(of upstream: Upstream) -> ServerEvent? {
        let reachability = upstream.reachability
        guard !reachability.isReachable, let since = reachability.since else { return nil }
        return .connectivity(upstream: upstream.configuration.name, reachable: false, at: since)
    }

    package static func screenChanged(app: String, screen: String, revision: Int, audience: Audience) -> ServerEvent {
        ServerEvent(
            kind: "screen-changed",
            data: [("app", .text(app)), ("screen", .text(screen)), ("revision", .number(revision))],
            audience: audience
        )
    }

    /// A task has made progress or has ended (schema `Task`). `state` is queued, running, done or failed; `progress` is
    /// from 0 to 1, rounded to whole per cents.
    package static func job(
        app: String,
        id: String,
        kind: String,
        state: String,
        progress: Double,
        audience: Audience
    ) -> ServerEvent {
        let percent = Int((progress * 100).rounded(.down))
        return ServerEvent(
            kind: "job",
            data: [
                ("app", .text(app)), ("id", .text(id)), ("status", .text(state)), ("percent", .number(percent)),
                ("kind", .text(kind)), ("state", .text(state)), ("progress", .fraction(Double(percent) / 100)),
            ],
            audience: audience
        )
    }
}

/// An event that servers send to each other: it concerns an app, not the upstreams of one server.
struct ClusterEvent: Codable {
    static let kind = "event"

    private let name: String
    private let data: String
    private let app: String
    /// The account or the profile of the audience; neither for all listeners of the app.
    private var account: String?
    private var profile: String?

    /// - Returns: nil for an event of this server alone.
    init?(_ event: ServerEvent) {
        (name, data) = (event.kind, event.json)
        switch event.audience {
        case .everyone: return nil
        case .app(let app): self.app = app
        case .account(let app, let account): (self.app, self.account) = (app, account)
        case .profile(let app, let profile): (self.app, self.profile) = (app, profile)
        }
    }

    init?(json: String) {
        guard let event = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = event
    }

    var json: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// The topic of the message (`ClusterMessages`).
    var topic: String { event.audience.topic }

    var event: ServerEvent {
        let audience: ServerEvent.Audience =
            if let account {
                .account(app: app, account: account)
            } else if let profile {
                .profile(app: app, profile: profile)
            } else { .app(app) }
        return ServerEvent(kind: name, json: data, audience: audience)
    }
}

extension ServerEvent.Audience {
    /// The topic of the messages for the audience (`ClusterMessages`).
    package var topic: String {
        switch self {
        case .everyone: "everyone"
        case .app(let app): "app/\(app)"
        case .account(let app, let account): "account/\(app)/\(account)"
        case .profile(let app, let profile): "profile/\(app)/\(profile)"
        }
    }
}

/// The latest events of each audience, for clients that reconnect with `Last-Event-ID`. Bounded; a value without locks
/// or clock.
///
/// Each audience has room of its own: one with many events pushes out none of another's. Only if all audiences together
/// have too many events, the oldest one of all is removed.
struct EventBacklog: Sendable {
    /// An event with its sequence number.
    struct Entry: Sendable, Equatable {
        let number: Int
        let event: ServerEvent
    }

    /// The events that a reconnecting client has missed.
    enum Missed: Equatable {
        case entries([Entry])
        /// More than is kept, or the identity is of another run of the server: the client has to request everything
        /// again.
        case unknown
    }

    private struct Retained {
        var entries: Deque<Entry> = []
        /// Number of the newest event that is kept no more.
        var forgotten: Int
    }

    /// An event's position in the order of all.
    private struct Position {
        let number: Int
        let audience: ServerEvent.Audience
    }

    /// All audiences together may have this many times the events of one.
    static let share = 20
    /// Distinguishes the runs of a server: a number alone would mean something else after a restart.
    let run: String
    private let capacity: Int
    private var kept: [ServerEvent.Audience: Retained] = [:]
    /// The kept events, the oldest first, and some that were removed because their audience had too many.
    private var order: Deque<Position> = []
    private(set) var count = 0
    private var lastNumber = 0
    /// Number of the newest event that is kept no more, among audiences that have none left.
    private var forgotten = 0

    /// - Parameter capacity: number of events that are kept of one audience
    init(run: String, capacity: Int) {
        self.run = run
        self.capacity = capacity
    }

    /// Appends an event, and removes the oldest if there are too many.
    mutating func append(_ event: ServerEvent) -> Entry {
        lastNumber += 1
        let entry = Entry(number: lastNumber, event: event)
        kept[event.audience, default: Retained(forgotten: forgotten)].entries.append(entry)
        order.append(Position(number: lastNumber, audience: event.audience))
        count += 1
        if kept[event.audience]?.entries.count ?? 0 > capacity { removeOldest(of: event.audience) }
        let most = Self.share * capacity
        while count > most, let oldest = order.popFirst() {
            if isKept(oldest) { removeOldest(of: oldest.audience) }
        }
        // At least half of the positions are removed, so the cost of an event is constant on average.
        if order.count > 2 * most { order = order.filter(isKept) }
        return entry
    }

    private func isKept(_ position: Position) -> Bool {
        kept[position.audience]?.entries.first.map { $0.number <= position.number } ?? false
    }

    private mutating func removeOldest(of audience: ServerEvent.Audience) {
        guard let oldest = kept[audience]?.entries.popFirst() else { return }
        count -= 1
        kept[audience]?.forgotten = oldest.number
        guard kept[audience]?.entries.isEmpty == true else { return }
        kept[audience] = nil
        forgotten = max(forgotten, oldest.number)
    }

    /// Returns the `id` field of an entry.
    func identity(of entry: Entry) -> String { "\(run)-\(entry.number)" }

    /// The identity of the newest event, from which a new client continues.
    var newestIdentity: String { "\(run)-\(lastNumber)" }

    /// Returns the events of some audiences after the one with this identity.
    ///
    /// - Parameter audiences: nil for all.
    func missed(since identity: String, of audiences: Set<ServerEvent.Audience>? = nil) -> Missed {
        let audiences = audiences ?? Set(kept.keys).union([.everyone])
        guard let dash = identity.lastIndex(of: "-"), identity[..<dash] == run,
            let number = Int(identity[identity.index(after: dash)...]),
            (0...lastNumber).contains(number),
            audiences.allSatisfy({ kept[$0]?.forgotten ?? forgotten <= number })
        else { return .unknown }
        let missed = audiences.flatMap { (kept[$0]?.entries ?? []).drop { $0.number <= number } }
        return .entries(missed.sorted { $0.number < $1.number })
    }
}
