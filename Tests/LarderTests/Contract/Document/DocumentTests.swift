import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Larder

@Suite("openapi.yaml is a valid document")
struct DocumentTests {
    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.load()
    }

    @Test("SRV-02 It is OpenAPI 3.1 with JSON Schema 2020-12")
    func version() {
        #expect(document.root["openapi"]?.string?.hasPrefix("3.1.") == true)
        #expect(document.root["jsonSchemaDialect"] == .string("https://json-schema.org/draft/2020-12/schema"))
    }

    @Test("SRV-02 Every reference resolves")
    func references() throws {
        for (pointer, name, value) in document.root.members() where name == "$ref" {
            #expect(throws: Never.self, "\(pointer)") { try document.validator.resolve(value) }
        }
    }

    @Test("SRV-02 No component is unused")
    func unused() throws {
        let used = Set(document.root.members().filter { $0.name == "$ref" }.compactMap(\.value.string))
        for (kind, components) in try #require(document.root["components"]?.object) where kind != "securitySchemes" {
            for name in try #require(components.object).keys {
                #expect(used.contains("#/components/\(kind)/\(name)"), "\(kind) \(name) is not used")
            }
        }
    }

    @Test("SRV-02 Every operation has an identity of its own, a summary, a description and declared tags")
    func descriptions() throws {
        let tags = Set(try #require(document.root["tags"]?.array).compactMap { $0["name"]?.string })
        var identities: Set<String> = []
        for operation in document.operations + document.mounts {
            let identity = try #require(operation.value["operationId"]?.string, "\(operation.key)")
            #expect(identities.insert(identity).inserted, "\(identity) is used twice")
            #expect(operation.value["summary"]?.string?.isEmpty == false, "\(operation.key)")
            #expect(operation.value["description"]?.string?.isEmpty == false, "\(operation.key)")
            let own = try #require(operation.value["tags"]?.array, "\(operation.key)").compactMap(\.string)
            #expect(!own.isEmpty && tags.isSuperset(of: own), "\(operation.key): \(own)")
        }
    }

    @Test("SRV-02 Every operation succeeds in some way and names the problems that every request can meet")
    func responses() {
        for operation in document.operations {
            let statuses = Set(operation.responses.keys)
            #expect(statuses.contains { $0.hasPrefix("2") }, "\(operation.key)")
            #expect(statuses.isSuperset(of: ["400", "403", "408", "431"]), "\(operation.key)")
            // Where a session is opened, 401 is about a name and a password.
            let isOpening = [
                "POST /v1/notes/session", "POST /v1/disk/session", "POST /v1/ships/session",
            ].contains(operation.key)
            #expect(
                (statuses.contains("401") && !isOpening) == (operation.value["security"] != nil),
                "\(operation.key)"
            )
            if operation.value["requestBody"] != nil {
                #expect(statuses.isSuperset(of: ["413", "422"]), "\(operation.key)")
            }
            if !operation.pathParameters.isEmpty { #expect(statuses.contains("404"), "\(operation.key)") }
        }
    }

    @Test(
        "SRV-06 Every error but the health check's is a problem document that lists its codes, each under its status"
    )
    func problems() throws {
        for operation in document.operations {
            for (status, response) in operation.responses
            where status >= "400" && operation.key + status != "GET /health/ready503" {
                let codes = try document.problemCodes(of: response)
                #expect(!codes.isEmpty, "\(operation.key) \(status)")
                for code in codes {
                    #expect(
                        AppList.standard.problems.first { $0.rawValue == code }?.status.code == Int(status),
                        "\(operation.key) \(status) \(code)"
                    )
                }
            }
        }
    }

    @Test("SRV-02 Every parameter of a path is declared and required, and no other")
    func parameters() throws {
        for operation in document.operations + document.mounts {
            let declared = try (operation.shared + (operation.value["parameters"]?.array ?? [])).map(document.resolved)
                .filter { $0["in"] == .string("path") }
            #expect(Set(declared.compactMap { $0["name"]?.string }) == operation.pathParameters, "\(operation.key)")
            for parameter in declared { #expect(parameter["required"] == .bool(true), "\(operation.key)") }
        }
    }

    @Test("SRV-02 The problem codes are exactly those of the server")
    func problemCodes() throws {
        let listed = try #require(document.root.at(pointer: "/components/schemas/Problem/properties/code/enum")?.array)
            .compactMap(\.string)
        // The document groups them by status; the server, by app.
        #expect(listed.sorted() == AppList.standard.problems.map(\.rawValue).sorted())
    }

    @Test("SRV-02 No schema has a keyword that these tests do not check")
    func schemas() throws {
        for (pointer, name, value) in document.root.members() {
            guard
                name == "schema"
                    || pointer.hasPrefix("/components/schemas/") && pointer.split(separator: "/").count == 3
            else { continue }
            #expect(throws: Never.self, "\(pointer)") { try document.validator.check(value) }
        }
    }

    @Test("SRV-06 Members of responses are always present, except the few that say when")
    func required() throws {
        let optional: Set<String> = [
            "page", "revision", "empty", "pointer", "parameter", "install", "actions", "body", "partial", "after_s",
            "pending", "needs_decision", "freshness_text", "search",
        ]
        let requests = document.schemasOfRequests
        // GeoJSON defines its own members (RFC 7946): a cluster has members that a pin lacks.
        let ofGeoJSON: Set<String> = ["id", "bbox", "title", "subtitle", "point_count"]
        for (pointer, name, value) in document.root.members()
        where name == "additionalProperties" && value == .bool(false) {
            if requests.contains(where: { pointer.contains("/schemas/\($0)/") }) { continue }
            let schema = try #require(
                document.root.at(pointer: String(pointer.dropLast("/additionalProperties".count)))
            )
            let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
            let properties = Set((schema["properties"]?.object ?? [:]).keys)
            var mayBeAbsent =
                pointer.contains("GeoJSON") || pointer.contains("Feature") ? optional.union(ofGeoJSON) : optional
            // Only problems have it: the screen that shows the outcome of a write.
            if pointer == "/components/schemas/Problem/additionalProperties" { mayBeAbsent.insert("href") }
            if pointer.contains("/requestBody/") { mayBeAbsent.insert("at") }
            // The members that the request of the action needs.
            if pointer.contains("/ActionBody/") || pointer.contains("/ActionHeaders/") {
                mayBeAbsent.formUnion(properties)
            }
            if pointer.contains("/Action/") { mayBeAbsent.formUnion(["fields", "headers", "disabled_reason"]) }
            // `values` and `location` depend on the kind of the field.
            if pointer.contains("/ActionField/") { mayBeAbsent.formUnion(["values", "location"]) }
            if pointer.contains("/Empty/") { mayBeAbsent.insert("action") }
            // Main screens have tabs; pictures and files have no title.
            if pointer.contains("/Links/") { mayBeAbsent.formUnion(["tabs", "search"]) }
            if pointer.contains("/IndexEntry/") { mayBeAbsent.insert("title") }
            // Only in results of a search.
            if properties.contains("downloaded") { mayBeAbsent.insert("folder") }
            if pointer.contains("/NoteRow/") { mayBeAbsent.insert("passage") }
            // Only where the values are known, and of files that need one.
            if pointer.contains("/ActionField/") { mayBeAbsent.insert("options") }
            if pointer.contains("/multipart~1form-data/") { mayBeAbsent.insert("password") }
            // Only of rows that are counted up to a limit.
            if pointer.hasSuffix("Page/additionalProperties") { mayBeAbsent.insert("total_at_least") }
            #expect(properties.subtracting(required).isSubset(of: mayBeAbsent), "\(pointer)")
            #expect(required.isSubset(of: properties), "\(pointer)")
        }
    }
}
