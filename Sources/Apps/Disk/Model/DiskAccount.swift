import Foundation

/// An account of Yandex Disk that is logged in.
struct DiskAccount: Sendable, Equatable {
    var id: String
    var name: String?
    var linkedAt: Date
    var space: DiskSpace
    var epoch: Int64
    var revision: Int
    /// Whether the API has refused its token.
    var isRejected: Bool
}

/// The OAuth token of an account. Stored sealed; sent to the API only.
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
