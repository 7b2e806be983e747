import Database
package import Foundation

/// A login to one app, of the same shape for all apps (docs/contract.md, "Sessions").
package struct Session: Sendable, Equatable {
    /// The kinds of session.
    package enum Kind: String, Sendable, Codable {
        /// An account with a name.
        case user
        /// An account without a name.
        case guest
    }

    /// The app that it belongs to: `ships`, `disk`, …
    package let app: String
    /// Kind.
    package let kind: Kind
    /// Identity of the account within the app; all data of the account is stored under it.
    package let account: String
    /// Name to show, if there is one.
    package let name: String?
    /// When it began.
    package let createdAt: Date
    /// Identity of the session, under which an app stores what belongs to this session only; empty before it is opened.
    /// The token cannot be computed from it.
    package let id: String

    /// The version of the session's screen, which never changes: when it was opened, in milliseconds since 1970 UTC.
    package var version: Int { Int(createdAt.millisecondsSince1970) }

    /// Describes a session.
    package init(app: String, kind: Kind, account: String, name: String?, createdAt: Date, id: String = "") {
        self.app = app
        self.kind = kind
        self.account = account
        self.name = name
        self.createdAt = createdAt
        self.id = id
    }
}
