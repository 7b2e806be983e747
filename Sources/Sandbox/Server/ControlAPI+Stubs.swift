import HTTPTypes

// Upstreams that are made from OpenAPI documents.
extension ControlAPI {
    /// Largest file with a document, in bytes.
    private static let largestDocument = 16 << 20

    func addStub(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.post)
        _ = try request.parameters()
        let fields = try ControlFields(request.json())
        try fields.require(only: "name", "openapi")
        let name = try fields.required("name", try fields.text("name"))
        guard isName(name) else {
            throw .invalid(field: "name", value: name, accepted: ["1…50 of a–z, 0–9 and _"])
        }
        let document = try Self.document(try fields.required("openapi", fields["openapi"]))
        let stub: OpenAPIStub
        do throws(OpenAPIDefect) {
            stub = try OpenAPIStub(name: name, document: document)
        } catch {
            throw .invalid(
                field: "openapi",
                value: error.place,
                accepted: ["an OpenAPI document 3.0 or 3.1"],
                reason: error.reason
            )
        }
        guard let slot = stage.add(stub) else {
            throw .conflict(
                "There is an upstream '\(name)' already, or there are \(SimulatedUpstreams.mostStubs) of documents."
            )
        }
        var state = slot.status.object ?? JSONObject()
        state["operations"] = .array(stub.operations.map { .string($0) })
        return .json(.created, .object(state))
    }

    /// Whether an upstream may have a name: it is one of a setting's, and of a folder.
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

    /// Reads a document: JSON in the request, a text of YAML or JSON, or the path of a file.
    private static func document(_ value: JSONValue) throws(ControlProblem) -> JSONValue {
        guard let given = value.string else { return value }
        var text = given
        if !given.contains("\n"), !given.hasPrefix("{") {
            do throws(GivenFile.Defect) {
                text = try GivenFile.text(given, atMost: largestDocument, pipes: false)
            } catch {
                throw .invalid(
                    field: "openapi",
                    value: String(given.prefix(200)),
                    accepted: ["a document, or the path of a file with one, of at most \(largestDocument) bytes"]
                )
            }
        }
        do throws(YAMLDefect) {
            return try JSONValue(yaml: text)
        } catch {
            let shown = String(given.prefix(60))
            throw .invalid(field: "openapi", value: shown, accepted: ["YAML or JSON"], reason: error.description)
        }
    }
}
