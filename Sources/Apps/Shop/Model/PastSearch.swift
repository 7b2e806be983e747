import Foundation

/// A search in the history of a profile.
struct PastSearch: Sendable, Equatable {
    var text: String
    var filters: SearchFilters
    var searchedAt: Date
}

/// The searches of a profile, read in one transaction.
struct ProfileSearches: Sendable, Equatable {
    /// The last search with its filters; nil if there is none.
    var last: SearchQuery?
    /// Past searches, newest first.
    var history: [PastSearch]
    /// Number of changes of these.
    var revision: Int
}
