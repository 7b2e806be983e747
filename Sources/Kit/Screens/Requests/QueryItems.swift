package import Foundation
import HTTP

/// The query of a URL, read strictly: a parameter given twice or with a value of the wrong kind is a problem that names
/// it.
///
/// `+` means a space, as browsers write it (WHATWG URL, application/x-www-form-urlencoded). Parameters that a route
/// does not have are refused before its handler is called (``RouteInput``).
package struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    /// Reads the part of a URL after `?`; nil is an empty query.
    package init(_ query: String?) {
        items = (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
        }
    }

    /// The names of all parameters, in their order.
    var names: [String] { items.map(\.name) }

    /// Checks that a query is UTF-8 once it is decoded; the parameters of one that is not would be read as other texts.
    /// - Throws: 400 `malformed-request`.
    static func requireText(_ query: String?) throws(Problem) {
        guard let query, query.utf8.contains(UInt8(ascii: "%")) else { return }
        guard query.removingPercentEncoding != nil else {
            throw Problem(.malformedRequest, "The query is not UTF-8 in percent-encoding.")
        }
    }

    /// Returns the query for a link: in canonical spelling, with some parameters replaced and those of value nil left
    /// out.
    func link(replacing replaced: [String: String?]) -> String {
        let kept = items.filter { replaced[$0.name] == nil }
        let new = replaced.sorted { $0.key < $1.key }.compactMap { name, value in value.map { (name, $0) } }
        return (kept.map { ($0.name, $0.value) } + new).map { "\(Self.encode($0))=\(Self.encode($1))" }
            .joined(separator: "&")
    }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text, allowed: .legibleQuery)
    }

    private static func decode(_ text: Substring) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        let spaced = String(text.replacing("+", with: " "))
        return spaced.removingPercentEncoding ?? spaced
    }

    /// Returns the value of a parameter; nil if it is absent.
    /// - Throws: 400 if it is given twice.
    package func string(_ name: String) throws -> String? {
        let values = items.filter { $0.name == name }.map(\.value)
        guard values.count < 2 else { throw Problem.invalidParameter(name, accepted: "may be given once") }
        return values.first
    }

    /// Returns an integer within a range; nil if it is absent.
    /// - Throws: 400 for anything else.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = try string(name) else { return nil }
        guard let value = Int(text), text.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: "-") }),
            range.contains(value)
        else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw Problem.invalidParameter(name, accepted: "accepts an integer \(bounds)")
        }
        return value
    }

    /// Returns a switch: `1`, `true` or nothing after the name is on; `0`, `false` and an absent parameter are off.
    /// - Throws: 400 for anything else.
    package func flag(_ name: String) throws -> Bool {
        switch try string(name) {
        case nil, "0", "false": false
        case "1", "true", "": true
        default: throw Problem.invalidParameter(name, accepted: "accepts 1 or 0")
        }
    }
}

extension QueryItems {
    /// Returns the time zone that the parameter `tz` names; nil if there is none.
    ///
    /// Only names of the IANA time zone database are accepted, such as `Europe/Paris`, `EST5EDT` and `UTC`. Foundation
    /// also accepts abbreviations such as `PST`, which are ambiguous.
    /// - Throws: ``Problem``, 400 for any other name.
    package func timeZone() throws -> TimeZone? {
        guard let name = try string("tz") else { return nil }
        guard Self.isTimeZoneName(name), let zone = TimeZone(identifier: Self.links[name] ?? name)
        else {
            throw Problem.invalidParameter("tz", accepted: "accepts the IANA name of a time zone, such as Europe/Paris")
        }
        return zone
    }

    /// The names of the database without a slash, which is not given new ones.
    private static let plainNames: Set<String> = [
        "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT", "GMT+0", "GMT-0",
        "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein", "Libya",
        "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK",
        "Singapore", "Turkey", "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu",
    ]

    /// Names that Foundation takes for abbreviations of zones with daylight saving time, and the zones that the
    /// database links them to.
    private static let links = [
        "EST": "America/Panama", "MST": "America/Phoenix", "HST": "Pacific/Honolulu", "UCT": "UTC",
        "GMT+0": "GMT", "GMT-0": "GMT", "GMT0": "GMT",
    ]

    /// Whether a text has the form of a name. No other is looked up, because Foundation opens a file of that name.
    private static func isTimeZoneName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.count > 1 || plainNames.contains(name) else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.utf8.count <= 32
                && part.utf8.allSatisfy {
                    $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || (0x30...0x39).contains($0) || "_+-".utf8.contains($0)
                }
        }
    }

    /// Returns whether a browser is to show a file or to save it, if the client says so: `disposition`.
    ///
    /// - Throws: 400 if it is another word.
    func disposition() throws -> FileContent.Disposition? {
        guard let text = try string("disposition") else { return nil }
        guard let disposition = FileContent.Disposition(rawValue: text) else {
            throw Problem.invalidParameter("disposition", accepted: "accepts inline or attachment")
        }
        return disposition
    }
}
