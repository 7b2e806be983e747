import Foundation

/// A row, the time when the API last listed it, and whether its present version is stored.
struct DiskRow: Sendable {
    var item: DiskItem
    var seenAt: Date
    var isDownloaded: Bool
}

/// A page of a list, and the revision of the account in the same read transaction.
struct DiskPage: Sendable {
    var rows: [DiskRow]
    var total: Int?
    var hasMore: Bool
    var revision: Int?
}
