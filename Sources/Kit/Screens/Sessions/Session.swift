public import Foundation

/// Who is logged in to one app. One shape for all five (docs/contract.md, "Sessions").
public struct Session: Sendable, Equatable {
    /// The kinds of session.
    public enum Kind: String, Sendable, Codable {
        /// Somebody with a name.
        case user
        /// Somebody without.
        case guest
    }

    /// The app that it belongs to: `ships`, `disk`, …
    public let app: String
    /// Kind.
    public let kind: Kind
    /// Identity of the account within the app; everything that belongs to somebody is kept under it.
    public let account: String
    /// Name to show, if there is one.
    public let name: String?
    /// When it was opened.
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
