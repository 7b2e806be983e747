/// What was added, updated and removed since a revision, so that a front end can animate.
struct ShipChanges: Encodable, Sendable, Equatable {
    /// The most changes that are listed: the largest page. No front end animates more, and a response has a bound.
    static let mostListed = 500

    /// The revision that the changes are counted from.
    var since: Int
    /// False if there are more than ``mostListed`` changes; then none is listed.
    var complete = true
    var added: [String] = []
    var updated: [String] = []
    var removed: [String] = []
}
