import Foundation
import Storage

/// The rows of a response of the API, for the transaction that stores the response.
struct FetchedRows: Sendable {
    /// The rows of the page, or the one row of a response about a single path. A row that is not shown keeps its
    /// position.
    var rows: [ListedRow]
    /// Rows of the response that are not on the page.
    var others: [DiskItem] = []
    /// The page that the response makes; nil for a response that makes none.
    var key: PageKey?
    /// The folder whose content the page shows, if it is one.
    var folder: DiskPath?
    /// The one path that the response is about, if it is about one. Only its row can say that a folder has become a
    /// file, so that its content is gone; a list of something else may be wrong.
    var subject: DiskPath?
    /// Number of rows on all pages; nil if the API does not say.
    var total: Int?
    /// Whether a page follows.
    var hasMore = false
}

/// The request to the API that rows come from.
struct RowsRequest: Sendable {
    /// The account.
    let account: String
    /// Epoch of the account before the request.
    let epoch: Int64
    /// Time of the request.
    let time: Date
    /// Whether clients may be shown other rows in place of the page while it is requested, although it is not stored.
    var hasSubstitute = false
    /// The screen whose clients are notified if the page has changed; nil if no page is requested.
    var screen: String?
}
