import TestKit
import Testing

/// Rules that generators of clients need: the violation of each has broken one of them.
@Suite("openapi.yaml as generators read it")
struct GeneratorTests {
    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.published()
    }

    /// Schemas of the components, by name, and everything within them.
    private var members: [(pointer: String, name: String, value: JSON)] {
        (document.root.at(pointer: "/components/schemas") ?? .null).members(at: "/components/schemas")
    }

    @Test("HARN-27 Objects of responses are open, and no text, screen or state is a constant")
    func open() throws {
        let requests = document.schemasOfRequests
        for (pointer, name, value) in members {
            let owner = String(pointer.split(separator: "/")[2])
            if name == "additionalProperties" {
                #expect(requests.contains(owner) && value == .bool(false), "\(pointer)")
            }
            #expect(name != "const", "\(pointer)")
            if name == "enum", value.array != nil { #expect(requests.contains(owner), "\(pointer)") }
            if name == "pattern", value.string != nil { #expect(requests.contains(owner), "\(pointer)") }
        }
    }

    @Test("HARN-27 A screen has one shape: nothing is merged, and the only alternative is null")
    func oneShape() throws {
        for (pointer, name, value) in members {
            #expect(!["allOf", "anyOf", "not", "if"].contains(name), "\(pointer)")
            guard name == "oneOf", let schemas = value.array else { continue }
            let others = schemas.filter { $0 != .object(["type": .string("null")]) }
            #expect(schemas.count == 2 && others.count == 1 && others[0]["$ref"] != nil, "\(pointer)")
        }
    }

    @Test("HARN-27 Every object has a name, every array says what is in it, and a body has a schema")
    func names() throws {
        for (pointer, name, value) in members where name == "type" && value == .string("object") {
            #expect(pointer.split(separator: "/").count == 4, "\(pointer): give it a name in components/schemas")
        }
        for (pointer, name, value) in members {
            guard name == "type", value == .string("array") || value.array?.contains(.string("array")) == true else {
                continue
            }
            let schema = document.root.at(pointer: String(pointer.dropLast("/type".count)))
            #expect(schema?["items"] != nil, "\(pointer)")
        }
        for (pointer, name, content) in document.root.members() where name == "content" {
            for (type, media) in content.object ?? [:] { #expect(media["schema"] != nil, "\(pointer) \(type)") }
        }
    }
}
