import Foundation
import HTTPTypes
import JSONValues

// Upstreams that a test makes.
extension ControlAPI {
    /// Largest file with a document, in bytes.
    private static let largestDocument = 16 << 20

    /// Adds an upstream of an OpenAPI document, of rules, of mappings of WireMock or of a HAR file.
    func addStub(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.post)
        _ = try request.parameters()
        let fields = try ControlFields(request.json())
        try fields.require(only: "name", "openapi", "rules", "wiremock", "har")
        let name = try fields.required("name", try fields.text("name"))
        guard isName(name) else {
            throw .invalid(field: "name", value: name, accepted: ["1…50 of a–z, 0–9 and _"])
        }
        let stub = try Self.stub(name, fields)
        var imported = StubImport()
        for value in fields["rules"]?.array ?? [] {
            var rule = try Rule.Definition(value)
            rule.match = rule.match.below(name)
            imported.rules.append(rule)
        }
        if let given = fields["wiremock"] {
            let documents = try Self.documents(given, field: "wiremock")
            let path = Self.path(given)
            try imported.add(wireMock: documents) { name in path.flatMap { Self.body(name, beside: $0) } }
        }
        if let given = fields["har"] { try imported.add(archives: try Self.documents(given, field: "har")) }
        guard imported.rules.count <= RuleSet.capacity else {
            throw .conflict("An upstream has at most \(RuleSet.capacity) rules; these are \(imported.rules.count).")
        }
        guard let slot = stage.add(stub) else {
            throw .conflict(
                "There is an upstream '\(name)' already, or there are \(SimulatedUpstreams.mostStubs) of documents."
            )
        }
        slot.gate.change { [rules = imported.rules] set in
            for rule in rules { _ = set.add(rule) }
        }
        var state = slot.status.object ?? JSONObject()
        state["operations"] = .array(stub.operations.map { .string($0) })
        state["unmapped"] = .array(imported.unmapped.map(\.json))
        return .json(.created, .object(state))
    }

    private static let sources = ["openapi", "rules", "wiremock", "har"]

    private static func stub(_ name: String, _ fields: ControlFields) throws(ControlProblem) -> OpenAPIStub {
        guard sources.contains(where: { fields[$0] != nil }) else {
            throw .invalid(field: "body", value: "name", accepted: ["name, and one of the others at least"] + sources)
        }
        if let rules = fields["rules"], rules.array == nil {
            throw .invalid(field: "rules", value: rules.excerpt, accepted: ["an array of rules"])
        }
        let document = try fields["openapi"].map { (value) throws(ControlProblem) in try read(value, "openapi") }
        do throws(OpenAPIDefect) {
            return try OpenAPIStub(name: name, document: document)
        } catch {
            let accepted = ["an OpenAPI document 3.0 or 3.1"]
            throw .invalid(field: "openapi", value: error.place, accepted: accepted, reason: error.reason)
        }
    }

    /// Whether an upstream may have a name, which is also that of a setting and of a folder.
    private func isName(_ text: String) -> Bool {
        let isWord = { (byte: UInt8) in (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        guard let first = text.utf8.first, isWord(first), text.utf8.count <= 50 else { return false }
        return text.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "_") }
    }

    func removeStub(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.delete)
        try request.requireNoMembers()
        let name = request.path[1]
        guard !stage.remove(stub: name) else { return UpstreamResponse(status: .noContent) }
        guard stage.slot(named: name) == nil else {
            throw .conflict("'\(name)' is one of the simulated services, which stay.")
        }
        throw .notFound("There is no upstream '\(name)'.", field: "name", accepted: stage.stubbed.map(\.name))
    }

    /// Returns the path that is given in place of a document; nil for a document.
    private static func path(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.contains("\n") || $0.hasPrefix("{") ? nil : $0 }
    }

    /// Returns a file of WireMock's folder of bodies, which is beside the folder of the mappings.
    private static func body(_ name: String, beside path: String) -> Data? {
        guard !name.split(separator: "/").contains("..") else { return nil }
        let folder = names(in: path) == nil ? URL(filePath: path).deletingLastPathComponent().path : path
        for candidate in ["\(folder)/\(bodies)/\(name)", "\(folder)/../\(bodies)/\(name)"] {
            guard let bytes = try? GivenFile.bytes(candidate, atMost: largestDocument, pipes: false) else { continue }
            return Data(bytes)
        }
        return nil
    }

    /// Returns the names in a folder; nil if it is none.
    private static func names(in path: String) -> [String]? {
        // For a file, Foundation returns no subpaths and throws no error.
        try? FileManager.default.contentsOfDirectory(atPath: path)
    }

    /// Returns the paths of a folder and of the folders in it; nil if there are more than ``mostPaths``.
    private static func paths(below path: String) -> [String]? {
        var paths: [String] = []
        let found = FileManager.default.enumerator(atPath: path)
        while let name = found?.nextObject() as? String {
            guard paths.count < mostPaths else { return nil }
            paths.append(name)
        }
        return paths
    }

    /// Largest number of files and folders in a folder of mappings.
    private static let mostPaths = 10_000
    private static let bodies = "__files"

    /// Reads a document, or all JSON files of a folder in the order of their names; the folder must have one. In
    /// WireMock's folder the mappings are in a folder of their own, which may have subfolders.
    private static func documents(_ value: JSONValue, field: String) throws(ControlProblem) -> [(String, JSONValue)] {
        guard let given = Self.path(value),
            case let folder = Self.names(in: "\(given)/mappings") == nil ? given : "\(given)/mappings",
            let own = Self.names(in: folder)
        else { return [(value.string.map { String($0.prefix(200)) } ?? field, try read(value, field))] }
        guard let names = field == "wiremock" ? paths(below: folder) : own else {
            let accepted = ["a folder with at most \(mostPaths) files"]
            throw .invalid(field: field, value: String(folder.prefix(200)), accepted: accepted)
        }
        var documents: [(String, JSONValue)] = []
        let suffixes = [".json", ".\(field)"]
        for name in names.sorted() where suffixes.contains(where: name.hasSuffix) && !name.hasPrefix("\(bodies)/") {
            documents.append((name, try read(.string("\(folder)/\(name)"), field)))
        }
        guard !documents.isEmpty else {
            let accepted = ["a folder with files that end with \(suffixes[0])"]
            throw .invalid(field: field, value: String(folder.prefix(200)), accepted: accepted)
        }
        return documents
    }

    /// Reads a document: JSON in the request, a text of YAML or JSON, or the path of a file.
    private static func read(_ value: JSONValue, _ field: String) throws(ControlProblem) -> JSONValue {
        guard let given = value.string else { return value }
        var text = given
        if !given.contains("\n"), !given.hasPrefix("{") {
            do throws(GivenFile.Defect) {
                text = try GivenFile.text(given, atMost: largestDocument, pipes: false)
            } catch {
                throw .invalid(
                    field: field,
                    value: String(given.prefix(200)),
                    accepted: ["a document, or the path of a file with one, of at most \(largestDocument) bytes"]
                )
            }
        }
        if let value = JSONValue(json: text.utf8) { return value }
        do throws(YAMLDefect) {
            return try JSONValue(yaml: text)
        } catch {
            let shown = String(given.prefix(60))
            throw .invalid(field: field, value: shown, accepted: ["YAML or JSON"], reason: error.description)
        }
    }
}
