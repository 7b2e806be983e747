import Screens

/// What was added, updated and removed since a revision, so that a front end can animate.
struct ShipChanges: Encodable, Sendable, Equatable {
    /// The revision that the changes are counted from.
    var since: Int
    var added: [String] = []
    var updated: [String] = []
    var removed: [String] = []
    /// Whether more ships have changed than are named.
    var hasMore = false
}

extension ShipChanges: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("added", added)
        json.member("has_more", hasMore)
        json.member("removed", removed)
        json.member("since", since)
        json.member("updated", updated)
        json.endObject()
    }
}
