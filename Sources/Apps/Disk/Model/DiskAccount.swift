import Foundation

/// An account of Yandex Disk that is logged in.
struct DiskAccount: Sendable, Equatable {
    var id: String
    var name: String?
    var linkedAt: Date
    var space: DiskSpace
    var epoch: Int64
    var revision: Int
    /// When anything that is known of its files was last received; nil if nothing was.
    var contentChangedAt: Date?
    /// The login whose token its requests are sent with.
    var login: DiskLogin
}

/// A login of an account, with a token of its own.
struct DiskLogin: Sendable, Equatable {
    /// Identity of the session that it opened.
    var session: String
    /// Name of its sealed token.
    var token: String
    /// Whether the API has refused the token.
    var isRejected: Bool
}

/// The OAuth token of a login. Stored sealed; sent to the API only.
struct DiskToken: Codable, Sendable, Equatable {
    var accessToken: String
    var refreshToken: String?
    var expiresAt: Date?
}

/// The space of an account, in bytes.
struct DiskSpace: Sendable, Equatable {
    var total: Int
    var used: Int
    var trash: Int
}
