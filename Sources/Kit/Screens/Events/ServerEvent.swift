public import Foundation

/// Something that happened, for `GET /v1/events`.
public struct ServerEvent: Sendable, Equatable {
    /// Who may hear of it.
    public enum Audience: Sendable, Equatable {
        /// Everybody.
        case everyone
        /// Whoever has a session of this account.
        case account(app: String, account: String)
    }

    /// Value of the `event` field: `connectivity`, `screen-changed`, `job`.
    public let kind: String
    /// Value of the `data` field: one line of JSON.
    public let json: String
    /// Who may hear of it.
    public let audience: Audience

    /// An event with data of its own.
    public init(kind: String, data: some Encodable, audience: Audience = .everyone) throws {
        self.kind = kind
        json = String(decoding: try WireFormat.encode(data), as: UTF8.self)
        self.audience = audience
    }

    /// An upstream went out of reach or came back.
    public static func connectivity(upstream: String, reachable: Bool, at instant: Date) throws -> ServerEvent {
        struct Data: Encodable {
            let upstream: String
            let reachable: Bool
            let offline: Bool
            let at: Date
        }
        return try ServerEvent(kind: "connectivity", data: Data(upstream: upstream, reachable: reachable, offline: !reachable, at: instant))
    }

    /// A screen's data changed.
    public static func screenChanged(app: String, screen: String, revision: Int, audience: Audience = .everyone) throws -> ServerEvent {
        struct Data: Encodable {
            let app: String
            let screen: String
            let revision: Int
        }
        return try ServerEvent(kind: "screen-changed", data: Data(app: app, screen: screen, revision: revision), audience: audience)
    }
}
