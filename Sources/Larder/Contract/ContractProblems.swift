import HTTPTypes
import JSONValues
import Screens

/// The refusals of routes: a response for each status, with the problems that a route can have under that status.
struct ContractProblems {
    let sources: ContractSources
    /// The responses and examples in use, by name.
    private(set) var responses: [String: JSONValue] = [:]
    private(set) var examples: [String: JSONValue] = [:]

    init(_ sources: ContractSources) { self.sources = sources }

    /// Returns references to the responses of problems, by status.
    ///
    /// - Throws: ``ContractDefect``.
    mutating func refusals(_ names: Set<String>) throws(ContractDefect) -> [(status: String, response: JSONValue)] {
        let unknown = names.subtracting(sources.codes.map(\.rawValue))
        guard unknown.isEmpty else { throw ContractDefect("there is no problem \(unknown.sorted())") }
        let codes = sources.codes.filter { names.contains($0.rawValue) }
        var refusals: [(status: String, response: JSONValue)] = []
        for status in Set(codes.map(\.status.code)).sorted() {
            let name = try response(codes.filter { $0.status.code == status }, status: "\(status)")
            refusals.append(("\(status)", .reference("responses", name)))
        }
        return refusals
    }

    private mutating func response(_ codes: [ProblemCode], status: String) throws(ContractDefect) -> String {
        let name = codes.map { Self.typeName($0.rawValue) }.joined(separator: "Or")
        guard responses[name] == nil else { return name }
        let fields = sources.shared("refusals")
        var headers = fields["all"]?.object ?? JSONObject()
        for member in fields[status]?.object?.members ?? [] { headers[member.name] = member.value }
        // Adds the fields that all of the problems have.
        for member in template(codes[0])["headers"]?.object?.members ?? []
        where codes.allSatisfy({ template($0)["headers"]?[member.name] == member.value }) {
            headers[member.name] = member.value
        }
        let texts = codes.map { code in
            let about = template(code)["about"]?.string ?? "\(code.title.english)."
            return codes.count == 1 ? about : "- `\(code.rawValue)`: \(about)"
        }
        responses[name] = .object(
            JSONObject([
                ("description", .string(texts.joined(separator: "\n"))),
                ("headers", ContractHeaders.references(headers)),
                ("content", .object(JSONObject([(ContractMedia.problem, try content(codes))]))),
            ])
        )
        return name
    }

    /// Returns the content of a response that is one of these problems.
    ///
    /// - Throws: ``ContractDefect``.
    mutating func content(_ codes: [ProblemCode]) throws(ContractDefect) -> JSONValue {
        var references = JSONObject()
        for code in codes {
            let name = Self.typeName(code.rawValue)
            examples[name] = ["value": .object(example(code))]
            references[code.rawValue] = .reference("examples", name)
        }
        return [
            "schema": .reference("schemas", "Problem"),
            "x-problem-codes": .array(codes.map { .string($0.rawValue) }), "examples": .object(references),
        ]
    }

    private func template(_ code: ProblemCode) -> JSONObject {
        sources.component("problems", code.rawValue) ?? JSONObject()
    }

    /// Returns the problem document of a code, as its template describes it.
    private func example(_ code: ProblemCode) -> JSONObject {
        let template = template(code)
        let title = JSONValue.string(code.title.english)
        let detail = template["detail"] ?? .string("\(code.title.english).")
        let upstream = template["upstream"].map {
            ["name": $0, "status": template["upstream_status"] ?? .null] as JSONValue
        }
        let message = template["message"] ?? detail
        var dialog = JSONObject([("title", "Error"), ("message", message), ("buttons", ["OK"])])
        for member in template["dialog"]?.object?.members ?? [] { dialog[member.name] = member.value }
        return JSONObject([
            ("type", .string("urn:larder:problem:\(code.rawValue)")), ("title", title),
            ("status", .integer(code.status.code)), ("detail", detail), ("instance", "/v1"),
            ("code", .string(code.rawValue)), ("state", "error"), ("offline", template["offline"] ?? false),
            ("retryable", .bool(code.isRetryable)), ("upstream", upstream ?? .null),
            ("errors", template["errors"] ?? []), ("dialog", .object(dialog)), ("href", template["href"]),
        ])
    }

    /// Returns `NotFound` for `not-found`.
    static func typeName(_ code: String) -> String {
        code.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

/// Header fields of responses.
enum ContractHeaders {
    /// Returns references to the components that fields name; a field without one is left out.
    static func references(_ headers: JSONObject) -> JSONValue {
        .object(
            JSONObject(
                headers.members.map { member in (member.name, member.value.string.map { .reference("headers", $0) }) }
            )
        )
    }
}

/// Media types as the contract names them.
enum ContractMedia {
    static let json = "application/json"
    static let problem = "application/problem+json"
}
