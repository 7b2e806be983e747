public import Foundation

/// A login to one app, of the same shape for all apps (docs/contract.md, "Sessions").
public struct Session: Sendable, Equatable {
    /// The kinds of session.
    public enum Kind: String, Sendable, Codable {
        /// An account with a name.
        case user
        /// An account without a name.
        case guest
    }

    /// The app that it belongs to: `ships`, `disk`, …
    public let app: String
    /// Kind.
    public let kind: Kind
    /// Identity of the account within the app; all data of the account is stored under it.
    public let account: String
    /// Name to show, if there is one.
    public let name: String?
    /// When it began.
    public let createdAt: Date

    /// Describes a session.
    public init(app: String, kind: Kind, account: String, name: String?, createdAt: Date) {
        self.app = app
        self.kind = kind
        self.account = account
        self.name = name
        self.createdAt = createdAt
    }
}
