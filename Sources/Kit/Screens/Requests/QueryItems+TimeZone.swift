package import Foundation

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
}
