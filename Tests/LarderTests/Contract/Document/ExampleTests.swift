import TestKit
import Testing

@Suite("The examples of openapi.yaml")
struct ExampleTests {
    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.load()
    }

    /// Media type objects and their JSON pointers.
    private var contents: [(place: String, media: JSON)] {
        document.root.members().filter { $0.name == "content" }.flatMap { pointer, _, content in
            (content.object ?? [:]).map { ("\(pointer) \($0.key)", $0.value) }
        }
    }

    @Test("SRV-02 Every body with a schema has examples, and they conform to it")
    func bodies() throws {
        for (place, media) in contents {
            let schema = try #require(media["schema"], "\(place) has no schema")
            if schema["format"] == .string("binary") {
                let types = [" image/", " application/pdf", " application/zip", " */*"]
                let isBinary = types.contains(where: place.contains)
                #expect(isBinary, "\(place) has no schema of its own")
                continue
            }
            let examples = try #require(media["examples"]?.object, "\(place) has no examples")
            for (name, example) in examples {
                let value = try #require(try document.resolved(example)["value"], "\(place) \(name)")
                let violations = try document.validator.violations(of: value, schema: schema)
                #expect(violations.isEmpty, "\(place) \(name): \(violations)")
            }
        }
    }

    @Test("SRV-02 Every code of a problem response has an example")
    func problems() throws {
        for operation in document.operations {
            for (status, response) in operation.responses {
                let examples =
                    try document.resolved(response)["content"]?["application/problem+json"]?["examples"]?.object ?? [:]
                let shown = Set(try examples.values.compactMap { try document.resolved($0)["value"]?["code"]?.string })
                #expect(shown == Set(try document.problemCodes(of: response)), "\(operation.key) \(status)")
            }
        }
    }

    @Test("SRV-02 Examples and defaults of parameters and headers conform to their schemas")
    func parameters() throws {
        for (pointer, name, value) in document.root.members() where name == "schema" {
            let holder = document.root.at(pointer: String(pointer.dropLast("/schema".count)))
            for example in [holder?["example"], value["default"]].compactMap({ $0 }) {
                let violations = try document.validator.violations(of: example, schema: value)
                #expect(violations.isEmpty, "\(pointer): \(violations)")
            }
        }
    }

    @Test("SRV-09 The examples of the event stream hold events as they are described")
    func events() throws {
        let operation = try #require(document.operation("GET /v1/events"))
        let examples = try #require(operation.responses["200"]?["content"]?["text/event-stream"]?["examples"]?.object)
        for (name, example) in examples {
            let events = ServerSentEvents(try #require(try document.resolved(example)["value"]?.string)).events
            #expect(!events.isEmpty, "\(name)")
            #expect(try events.flatMap { try Conformance(document: document).faults(of: $0) } == [], "\(name)")
        }
    }
}
