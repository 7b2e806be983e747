public import Foundation

extension QueryItems {
    /// Returns the time zone that the parameter `tz` names; nil if there is none.
    ///
    /// Only IANA names are accepted, such as `Europe/Paris`, and `UTC` and `GMT`. Foundation also accepts abbreviations
    /// such as `PST`, which are ambiguous.
    /// - Throws: ``Problem``, 400 for any other name.
    public func timeZone() throws -> TimeZone? {
        guard let name = try string("tz") else { return nil }
        guard Self.isTimeZoneName(name), let zone = TimeZone(identifier: name) else {
            throw Problem.invalidParameter("tz", accepted: "accepts the IANA name of a time zone, such as Europe/Paris")
        }
        return zone
    }

    /// Whether a text has the form of a name. No other is looked up, because Foundation opens a file of that name.
    private static func isTimeZoneName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.count > 1 || ["UTC", "GMT"].contains(name) else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.utf8.count <= 32
                && part.utf8.allSatisfy {
                    $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || (0x30...0x39).contains($0) || "_+-".utf8.contains($0)
                }
        }
    }
}
