import Foundation

/// A search in the history of a profile.
struct PastSearch: Sendable, Equatable {
    var text: String
    var filters: SearchFilters
    var searchedAt: Date
}
