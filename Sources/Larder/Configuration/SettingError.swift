import Foundation

/// A setting that cannot be used, named together with where it came from and what would be accepted.
enum SettingError: Error, CustomStringConvertible, Equatable {
    /// No setting has this name.
    case unknown(name: String, source: String, similar: [String])
    /// An upstream has no such setting.
    case unknownOfUpstream(name: String, source: String)
    /// The value is not one that the setting accepts.
    case unacceptable(key: String, value: String, source: String, accepted: String)
    /// A flag has no value behind it.
    case missingValue(flag: String)
    /// The configuration file cannot be used.
    case file(path: String, reason: String)

    var description: String {
        switch self {
        case .unknown(let name, let source, let similar):
            let hint =
                similar.isEmpty
                ? "larder serve --help lists all settings" : "did you mean \(similar.joined(separator: " or "))?"
            return "\(source): there is no setting \(name); \(hint)"
        case .unknownOfUpstream(let name, let source):
            return
                "\(source): there is no setting \(name); an upstream has \(Setting.endsOfUpstreams.joined(separator: ", "))"
        case .unacceptable(let key, let value, let source, let accepted):
            return "\(source): \(key) cannot be \"\(value)\"; it accepts \(accepted)"
        case .missingValue(let flag):
            return "command line: \(flag) needs a value"
        case .file(let path, let reason):
            return "configuration file \(path): \(reason)"
        }
    }

    /// No setting has this name: either the accepted ones of an upstream are told, or the nearest of all.
    static func unknown(_ name: String, source: String, among known: [String]) -> SettingError {
        let nearest = similar(to: name, among: known)
        let words = name.lowercased().drop { $0 == "-" }.replacing("larder_", with: "")
        return words.hasPrefix("upstreams") && nearest.isEmpty
            ? .unknownOfUpstream(name: name, source: source) : .unknown(name: name, source: source, similar: nearest)
    }

    /// The known names nearest to a mistyped one.
    static func similar(to name: String, among known: [String]) -> [String] {
        let scored = known.map { ($0, distance($0, name)) }.filter { $0.1 <= max(2, name.count / 5) }
        return scored.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(2).map(\.0)
    }

    /// Levenshtein distance.
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
