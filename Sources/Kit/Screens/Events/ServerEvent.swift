package import Foundation
package import Upstream

/// An event of `GET /v1/events`.
package struct ServerEvent: Sendable, Equatable {
    /// Who may receive an event.
    package enum Audience: Sendable, Hashable {
        case everyone
        /// Listeners of an app.
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
    /// Who may receive it.
    package let audience: Audience

    /// A value in an event's data.
    package enum Value: Sendable, Equatable {
        /// A text of identifiers and times: printable ASCII. Anything else is left out, so that the line stays JSON.
        case text(String)
        /// A whole number.
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
struct SharedEvent: Codable {
    /// The kind of message that it is.
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

    /// The topic of the message (`SharedChanges`).
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
    /// The topic of the messages for the audience (`SharedChanges`).
    package var topic: String {
        switch self {
        case .everyone: "everyone"
        case .app(let app): "app/\(app)"
        case .account(let app, let account): "account/\(app)/\(account)"
        case .profile(let app, let profile): "profile/\(app)/\(profile)"
        }
    }
}
