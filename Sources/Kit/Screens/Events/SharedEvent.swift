import Foundation

/// An event as servers tell it each other: what concerns an app, not the upstreams of one server.
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

    /// What has changed where it is heard (`SharedChanges`).
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
    /// What is rendered for the audience, as servers that share it name it (`SharedChanges`).
    package var topic: String {
        switch self {
        case .everyone: "everyone"
        case .app(let app): "app/\(app)"
        case .account(let app, let account): "account/\(app)/\(account)"
        case .profile(let app, let profile): "profile/\(app)/\(profile)"
        }
    }
}
