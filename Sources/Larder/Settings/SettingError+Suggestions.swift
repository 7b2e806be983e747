import Settings

extension SettingError {
    /// Returns the error for a name that no setting has: with the settings of upstreams if it begins like one of them,
    /// else with the nearest names.
    static func unknown(_ name: String, source: String, among known: [String]) -> SettingError {
        let nearest = similar(to: name, among: known)
        let words = name.lowercased().drop { $0 == "-" }.replacing("larder_", with: "")
        return words.hasPrefix("upstreams") && nearest.isEmpty
            ? .unknownOfUpstream(name: name, source: source, known: UpstreamSettings.endings)
            : .unknown(name: name, source: source, similar: nearest)
    }

    /// Returns at most two known names that are nearest to a mistyped one.
    static func similar(to name: String, among known: [String]) -> [String] {
        let scored = known.map { ($0, distance($0, name)) }.filter { $0.1 <= max(2, name.count / 5) }
        return scored.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(2).map(\.0)
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
