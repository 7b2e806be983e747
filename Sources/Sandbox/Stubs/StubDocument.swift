import JSONValues

/// The parts of an OpenAPI document that a stub needs.
struct StubDocument: Sendable {
    /// Deepest chain of references that is followed, and deepest value that is compared or made.
    static let deepest = 16
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    struct Operation: Sendable {
        /// In upper case.
        let method: String
        let path: StubPath
        /// The parameters of the path. Those of the operation replace them.
        let parameters: [JSONValue]
        let body: JSONValue?
        /// By status, in the order of the document.
        let responses: [JSONObject.Member]
    }

    private let root: JSONValue
    private(set) var operations: [Operation] = []

    init() { root = .null }

    /// - Throws: ``OpenAPIDefect``.
    init(_ root: JSONValue) throws(OpenAPIDefect) {
        self.root = root
        guard let version = root.object?["openapi"], version.text.hasPrefix("3.") else {
            throw OpenAPIDefect(place: "/openapi", reason: "it is missing, or not 3.0 or 3.1")
        }
        guard let paths = root.object?["paths"]?.object, !paths.members.isEmpty else {
            throw OpenAPIDefect(place: "/paths", reason: "there is none")
        }
        for path in paths.members where path.name.hasPrefix("/") {
            operations += try operations(of: path)
        }
        guard !operations.isEmpty else { throw OpenAPIDefect(place: "/paths", reason: "they have no operations") }
    }

    private func operations(of path: JSONObject.Member) throws(OpenAPIDefect) -> [Operation] {
        let place = JSONPointer().appending("paths").appending(path.name)
        guard let item = resolved(path.value).object else {
            throw OpenAPIDefect(place: place.description, reason: "it has no operations")
        }
        let shared = try parameters(item, at: place)
        var found: [Operation] = []
        for member in item.members where Self.methods.contains(member.name) {
            let place = place.appending(member.name)
            guard let operation = resolved(member.value).object else {
                throw OpenAPIDefect(place: place.description, reason: "it is no operation")
            }
            let own = try parameters(operation, at: place)
            let kept = shared.filter { parameter in !own.contains { $0.identity == parameter.identity } }
            found.append(
                Operation(
                    method: member.name.uppercased(),
                    path: StubPath(path.name),
                    parameters: kept + own,
                    body: operation["requestBody"].map(resolved),
                    responses: resolved(operation["responses"] ?? .null).object?.members ?? []
                )
            )
        }
        return found
    }

    private func parameters(_ object: JSONObject, at place: JSONPointer) throws(OpenAPIDefect) -> [JSONValue] {
        let parameters = (object["parameters"]?.array ?? []).map(resolved)
        guard parameters.allSatisfy({ $0.object?["name"]?.string != nil && $0.object?["in"]?.string != nil }) else {
            throw OpenAPIDefect(place: place.appending("parameters").description, reason: "one has no name or no in")
        }
        return parameters
    }

    /// Follows `$ref` within the document; a reference to nothing is null.
    func resolved(_ value: JSONValue) -> JSONValue {
        var value = value
        for _ in 0..<Self.deepest {
            guard let reference = value.object?["$ref"]?.string else { return value }
            guard reference.hasPrefix("#"), let pointer = JSONPointer(String(reference.dropFirst())) else {
                return .null
            }
            value = root.value(at: pointer.tokens) ?? .null
        }
        return .null
    }
}

/// A path with variables, such as `/days/{day}`.
struct StubPath: Sendable, Equatable {
    let text: String
    private let segments: [String]

    init(_ text: String) {
        self.text = text
        segments = text.split(separator: "/").map(String.init)
    }

    /// Number of its segments with a variable.
    var variables: Int { segments.count { $0.contains("{") } }

    /// Returns the values of its variables; nil if a path does not match.
    func values(of path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, actual) in zip(segments, path) {
            guard let open = segment.firstIndex(of: "{"), let close = segment.lastIndex(of: "}"), open < close else {
                guard segment == actual else { return nil }
                continue
            }
            let (prefix, suffix) = (segment[..<open], segment[segment.index(after: close)...])
            guard actual.hasPrefix(prefix), actual.hasSuffix(suffix), actual.count > prefix.count + suffix.count else {
                return nil
            }
            let name = String(segment[segment.index(after: open)..<close])
            values[name] = String(actual.dropFirst(prefix.count).dropLast(suffix.count))
        }
        return values
    }
}

extension JSONValue {
    /// A string itself, a number in its spelling, else nothing.
    var text: String {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: ""
        }
    }

    fileprivate var identity: [String] { [object?["name"]?.text ?? "", object?["in"]?.text ?? ""] }
}
