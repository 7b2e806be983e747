/// Selects entries; a missing part matches everything.
struct JournalFilter: Sendable, Equatable {
    var upstream: String?
    /// Beginning of the path, with the upstream's prefix.
    var pathPrefix: String?

    func matches(_ entry: JournalEntry) -> Bool {
        (upstream.map { $0 == entry.upstream } ?? true) && (pathPrefix.map { entry.path.hasPrefix($0) } ?? true)
    }
}
