import Foundation
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

    @Test("SRV-06 Every error but the health check's is a problem document that lists its codes, each under its status")
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

@Suite("Codes of errors in fields")
struct FieldErrorTests {
    /// A field error in the sources: the place, then its code, or two of them with a condition.
    private static var pattern: Regex<(Substring, Substring, Substring?)> {
        get throws {
            try Regex(
                #"\.(?:field|parameter)\(\s*(?:"(?:[^"\\]|\\.)*"|\w+),\s*"#
                    + #"(?:[^",()]*\? *)?"([a-z-]+)"(?: *: *"([a-z-]+)")?,"#
            )
        }
    }

    @Test("SRV-02 every code that a field error of the sources has is in the contract")
    func codes() throws {
        let pattern = try Self.pattern
        var used: [String: String] = [:]
        for file in Repository.files(in: "Sources", suffixes: [".swift"]) {
            for match in try Repository.text("Sources/\(file)").matches(of: pattern) {
                for code in [match.output.1, match.output.2] {
                    if let code { used[String(code)] = file }
                }
            }
        }
        let codes = try OpenAPIDocument.load().root.at(pointer: "/components/schemas/FieldError/properties/code/enum")
        let known = Set((codes?.array ?? []).compactMap(\.string))
        #expect(used.count > 8 && known.isSuperset(of: ["list-full", "not-the-list"]))
        for (code, file) in used { #expect(known.contains(code), "\(code) in \(file)") }
    }
}

/// A front end needs no formatting code: the text of a value is sent beside it (docs/contract.md, "Names and formats").
@Suite("Values as texts")
struct TextMemberTests {
    /// Values that are formatted wherever an app shows them.
    private static let formatted: Set<String> = [
        "size", "price", "price_min", "price_max", "line_total", "progress", "status", "state", "difference", "failure",
        "budget", "bytes", "total", "used", "available", "trash", "page_count", "year_built", "weight_kg", "home_port",
        "roles", "gender", "email", "draft_until",
    ]
    /// Times that no screen shows.
    private static let unseen: Set<String> = [
        "DiskSessionData", "DiskSessionOpenedData", "NotesSessionData", "NotesSessionOpenedData", "ShipsSessionData",
        "ShipsSessionOpenedData", "ShopHistoryRow.searched_at", "DiskOfflineRow.marked_at", "NoteMapData.total",
        "ShopListRow.available", "ShopFavouriteRow.available", "DiskDocument.available", "DiskAuthorizationData.state",
        "NotesFileRecord",
        "NotesFileProperties",
    ]
    private static let apps = ["Disk", "Shop", "PDF", "Note", "Ship", "Person"]

    @Test("HARN-30 Times, sizes, prices, shares and states that people see have a text beside them")
    func texts() throws {
        let document = try OpenAPIDocument.load()
        let schemas = document.root.at(pointer: "/components/schemas")?.object ?? [:]
        var found = 0
        for (schema, value) in schemas
        where Self.apps.contains(where: schema.hasPrefix) && !schema.contains("Request")
            && !Self.unseen.contains(schema)
        {
            let names = Set((value["properties"]?.object ?? [:]).keys)
            for name in names where name.hasSuffix("_at") || Self.formatted.contains(name) {
                guard !Self.unseen.contains("\(schema).\(name)") else { continue }
                found += 1
                let text = (name.hasSuffix("_at") ? String(name.dropLast(3)) : name) + "_text"
                #expect(names.contains(text), "\(schema).\(name)")
            }
        }
        #expect(found > 40)
    }
}

@Suite("Routes and operations")
struct RouteTests {
    @Test("SRV-02 openapi.yaml describes every route served and no other")
    func routes() async throws {
        let document = try OpenAPIDocument.load()
        try await withLarder { larder in
            let served = larder.application.table.routes.map { "\($0.method.rawValue) \($0.path)" }
            #expect(Set(served).count == served.count, "a route is served twice")
            #expect(Set(served) == Set((document.operations + document.mounts).map(\.key)))
        }
    }

    @Test("SRV-02 Operations need a session if and only if routes do")
    func sessions() async throws {
        let document = try OpenAPIDocument.load()
        try await withLarder { larder in
            for route in larder.application.table.routes {
                let operation = try #require(document.operation("\(route.method.rawValue) \(route.path)"))
                #expect(operation.needsSession == (route.sessionApp != nil), "\(operation.key)")
            }
        }
    }

    @Test("SRV-02 The index of the server lists every operation but itself")
    func index() async throws {
        let document = try OpenAPIDocument.load()
        try await withLarder { larder in
            let data = try #require(try await larder.send("GET", "/v1").json["data"])
            let ofApps = (data["apps"]?.array ?? []).flatMap { $0["screens"]?.array ?? [] }
            let listed = (ofApps + (data["screens"]?.array ?? [])).map {
                "\($0["method"]?.string ?? "") \($0["href"]?.string ?? "")"
            }
            #expect(
                listed.sorted()
                    == (document.operations + document.mounts).map(\.key).filter { $0 != "GET /v1" }.sorted()
            )
        }
    }
}
