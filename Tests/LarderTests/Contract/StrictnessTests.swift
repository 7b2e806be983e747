import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Larder

/// Routes take the parameters and members of openapi.yaml and no others.
@Suite("Names of parameters and members")
struct StrictnessTests {
    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.load()
    }

    /// Names of the members of an object, inner ones as `location.lat`.
    private static func names(_ members: [RouteInput.Member], in path: String = "") -> Set<String> {
        members.reduce(into: []) { names, member in
            names.insert(path + member.name)
            names.formUnion(Self.names(member.members, in: "\(path)\(member.name)."))
        }
    }

    /// The same of a schema.
    private func names(of schema: JSON, in path: String = "") throws -> Set<String> {
        let schema = try document.resolved(schema)
        var names: Set<String> = []
        for (name, value) in schema["properties"]?.object ?? [:] {
            names.insert(path + name)
            if value["items"] == nil { names.formUnion(try self.names(of: value, in: "\(path)\(name).")) }
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            for part in schema[key]?.array ?? [] { names.formUnion(try self.names(of: part, in: path)) }
        }
        return names
    }

    private func queryNames(of operation: Operation) throws -> Set<String> {
        let parameters = try (operation.shared + (operation.value["parameters"]?.array ?? [])).map(document.resolved)
        return Set(parameters.filter { $0["in"] == .string("query") }.compactMap { $0["name"]?.string })
    }

    @Test("HARN-29 Every route takes the query parameters, members and form fields of openapi.yaml, and no other")
    func declarations() async throws {
        try await withLarder { larder in
            for route in larder.application.table.routes
            where !["/v1/upstreams/", "/v1/sandbox/"].contains(where: route.path.hasPrefix) {
                let operation = try #require(document.operation("\(route.method.rawValue) \(route.path)"))
                #expect(Set(route.input.parameters) == (try queryNames(of: operation)), "\(operation.key)")
                let content = try operation.value["requestBody"].map(document.resolved)?["content"]
                let members = try content?["application/json"]?["schema"].map { try names(of: $0) }
                #expect(Self.names(route.input.members) == members ?? [], "\(operation.key)")
                let form = try content?["multipart/form-data"]?["schema"].map { try names(of: $0) }
                #expect(Set(route.input.formFields) == form ?? [], "\(operation.key)")
            }
        }
    }

    @Test("HARN-29 An unknown query parameter is 400 on every operation, and named; mounts and pages take any")
    func parameters() async throws {
        try await withLarder { larder in
            for operation in document.operations {
                let target = ContractScenario.filled(operation.path) + "?zz=1"
                let response = try await larder.send(operation.method, target)
                if document.isPage(operation) {
                    #expect(response.status == 200, "\(operation.key)")
                    continue
                }
                #expect(response.status == 400 && response.problemCode == "invalid-parameter", "\(operation.key)")
                let error = try response.json["errors"]?.array?.first
                #expect(error?["parameter"]?.string == "zz" && error?["code"]?.string == "unknown", "\(operation.key)")
            }
            #expect(try await larder.send("GET", "/v1/upstreams/spacex/v4/ships?zz=1").status == 200)
        }
    }

    @Test("HARN-29 An unknown member is 400 on every operation that takes JSON, and pointed at")
    func members() async throws {
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let disk = try await interview.diskSession()
            let sessions = [
                "ships": try await interview.session(), "disk": disk,
                "notes": try await interview.notesSession("strict"),
            ]
            for operation in document.operations
            where operation.value["requestBody"]?["content"]?["application/json"] != nil {
                let app = String(operation.path.split(separator: "/")[1])
                let session = sessions[app] ?? (operation.needsSession ? disk : [:])
                let response = try await interview.ask(
                    operation.key,
                    query: try queryNames(of: operation).contains("path") ? "?path=disk:/a" : "",
                    session.merging(["Content-Type": "application/json"]) { own, _ in own },
                    body: #"{"zz":1}"#
                )
                // Some routes look for the resource before they read the body.
                if response.status == 404 { continue }
                #expect(response.status == 400 && response.problemCode == "malformed-request", "\(operation.key)")
                #expect(try response.json.at(pointer: "/errors/0/pointer")?.string == "/zz", "\(operation.key)")
            }
        }
    }
}

@Suite("Request bodies")
struct RequestBodyTests {
    static let logins = [
        #"{"mode":"guest"}"#, #"{"mode":"guest","username":"anything"}"#,
        #"{"mode":"login","username":"a@b.c","password":"x"}"#,
        #"{"mode":"login","username":" first.last@mail.example.com ","password":" "}"#,
        #"{"mode":"login","username":"a@b.c","password":""}"#,
        #"{"mode":"login","username":"a@b","password":"x"}"#, #"{"mode":"login","username":"a@b..c","password":"x"}"#,
        #"{"mode":"login","username":"a@b@c.d","password":"x"}"#, #"{"mode":"login","username":"@b.c","password":"x"}"#,
        #"{"mode":"login","username":"a b@c.d","password":"x"}"#, #"{"mode":"login","username":"a@b.c."}"#,
        #"{"mode":"login"}"#,
        #"{"mode":"login","username":null,"password":"x"}"#, #"{"mode":"login","username":"a@b.c","password":1}"#,
        #"{"mode":"Guest"}"#, #"{}"#,
        #"{"mode":null}"#, "[]", #""guest""#,
    ]
    static let restores = [
        #"{}"#, #"{"ids":null}"#, #"{"ids":[]}"#, #"{"ids":"all"}"#, #"{"ids":[1]}"#, #"{"ids":[null]}"#,
        #"{"other":1}"#, #"{"ids":null,"id":[]}"#, "[]", "1",
    ]

    static let welcomes = [
        #"{"seen":true}"#, #"{"seen":false,"other":1}"#, #"{}"#, #"{"seen":null}"#, #"{"seen":1}"#, #"{"seen":"true"}"#,
        "[]", "true",
    ]

    @Test(
        "SRV-02 The server takes exactly the bodies that conform to their schema",
        arguments: [
            ("POST /v1/ships/session", logins), ("POST /v1/ships/restore", restores), ("PUT /v1/pdf/welcome", welcomes),
        ]
    )
    func bodies(key: String, bodies: [String]) async throws {
        let document = try OpenAPIDocument.load()
        let schema = try #require(
            document.operation(key)?.value["requestBody"]?["content"]?["application/json"]?["schema"]
        )
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let member = try await interview.session()
            for body in bodies {
                let conforms = try document.validator.violations(of: try JSON(Data(body.utf8)), schema: schema).isEmpty
                let response = try await interview.ask(key, member, body: body)
                #expect(
                    (200..<300).contains(response.status) == conforms,
                    "\(body): \(response.status), schema \(conforms)"
                )
            }
        }
    }
}
