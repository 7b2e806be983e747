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
    /// Names of the query parameters.
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
