/// What was added, updated and removed since a revision, so that a front end can animate.
struct ShipChanges: Encodable, Sendable, Equatable {
    /// The revision that the changes are counted from.
    var since: Int
    var added: [String] = []
    var updated: [String] = []
    var removed: [String] = []
}
