package import Foundation
import HTTP
import JSONValues

/// The input of a route: the names of its query parameters, of the members of its JSON body, and of the fields of its
/// form. Any other name is refused, since a mistyped one would have no effect that anyone sees (docs/contract.md,
/// "Problems").
package struct RouteInput: Sendable, Equatable {
    /// One query parameter, or several that belong together.
    package struct Parameter: Sendable, Equatable, ExpressibleByStringLiteral {
        let names: [String]

        /// `limit`, `offset` and `cursor` (docs/contract.md, "Paging").
        package static let page = Parameter(names: ["limit", "offset", "cursor"])

        private init(names: [String]) { self.names = names }

        package init(stringLiteral name: String) { names = [name] }
    }

    /// A member of a JSON object.
    package struct Member: Sendable, Equatable, ExpressibleByStringLiteral {
        package let name: String
        /// The members of its value; empty unless that is an object.
        package let members: [Member]

        /// A member whose value is no object.
        package init(stringLiteral name: String) {
            self.name = name
            members = []
        }

        private init(name: String, members: [Member]) {
            self.name = name
            self.members = members
        }

        /// A member whose value is an object.
        package static func object(_ name: String, _ members: Member...) -> Member {
            Member(name: name, members: members)
        }
    }

    /// Whether it takes any query parameter, since it reads none itself: the page that it responds with does.
    package internal(set) var takesAnyParameter = false
    package internal(set) var parameters: [String] = []
    /// Members of the JSON body; empty if it takes none.
    package internal(set) var members: [Member] = []
    /// Names of the parts of the form (RFC 7578); empty if it takes none.
    package internal(set) var formFields: [String] = []
}

extension RouteInput {
    /// Checks that every query parameter is one of the route.
    ///
    /// - Throws: 400 `invalid-parameter` that names each other one.
    func check(_ query: QueryItems) throws(Problem) {
        guard !takesAnyParameter else { return }
        var errors: [Problem.FieldError] = []
        for name in query.names where !parameters.contains(name) && errors.count < Self.mostNamed {
            guard !name.isEmpty else {
                throw Problem(.malformedRequest, "The query has a parameter without a name.")
            }
            errors.append(.parameter(name, "unknown", Self.unknown("parameter", name, among: parameters)))
        }
        guard errors.isEmpty else {
            throw Problem(.invalidParameter, errors.map(\.detail).joined(separator: " "), errors: errors)
        }
    }

    /// Checks that every member of a JSON body is one of the route, in objects within it, too.
    ///
    /// - Throws: 400 `malformed-request` that names each other one.
    func check(_ body: JSONFields) throws(Problem) {
        let errors = Array(Self.unknownMembers(of: body.values, members, at: "").prefix(Self.mostNamed))
        guard errors.isEmpty else {
            throw Problem(.malformedRequest, errors.map(\.detail).joined(separator: " "), errors: errors)
        }
    }

    /// Checks that a part of a form is one of the route.
    ///
    /// - Throws: 400 `malformed-request`.
    func check(formField name: String) throws(Problem) {
        guard !formFields.contains(name) else { return }
        let detail = Self.unknown("field", name, among: formFields)
        throw Problem(.malformedRequest, detail, errors: [.field("/\(JSONPointer.legible(name))", "unknown", detail)])
    }

    /// Most names of one problem, so that it is not many times larger than its request.
    private static let mostNamed = 10

    private static func unknownMembers(
        of values: JSONObject,
        _ known: [Member],
        at pointer: String
    ) -> [Problem.FieldError] {
        values.members.sorted { $0.name < $1.name }.flatMap { given -> [Problem.FieldError] in
            let pointer = "\(pointer)/\(JSONPointer.legible(given.name))"
            guard let member = known.first(where: { $0.name == given.name }) else {
                return [.field(pointer, "unknown", unknown("member", given.name, among: known.map(\.name)))]
            }
            guard let inner = given.value.object, !member.members.isEmpty else { return [] }
            return unknownMembers(of: inner, member.members, at: pointer)
        }
    }

    private static func unknown(_ kind: String, _ name: String, among known: [String]) -> Text {
        let legible = UploadedForm.legible(name)
        let nearest = NameSuggestions(for: legible, among: known).names.joined(separator: " or ")
        let hint =
            !nearest.isEmpty
            ? "; did you mean \(nearest)?"
            : known.isEmpty ? "; none is taken here." : "; accepted: \(known.joined(separator: ", "))."
        return "There is no \(kind) \(legible)\(hint)"
    }
}

/// Known names that a client or an operator may have meant by an unknown one.
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
