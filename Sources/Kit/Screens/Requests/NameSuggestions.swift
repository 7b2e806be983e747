/// What a client or an operator may have meant by a name that is not known.
package struct NameSuggestions: Sendable, Equatable {
    /// At most two known names that are nearest to it, the nearest first.
    package let names: [String]

    /// Looks for the names that differ by two characters, or by one in five if there are more. Upper case and lower
    /// case do not differ, and something has to be the same.
    package init(for name: String, among known: [String]) {
        let folded = name.lowercased()
        let most = min(max(2, name.count / 5), name.count - 1)
        let scored = known.map { ($0, Self.distance($0.lowercased(), folded)) }.filter { $0.1 <= most }
        names = scored.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(2).map(\.0)
    }

    /// Returns the Levenshtein distance.
    private static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let substituted = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
