import HTTPTypes
import JSONValues
import Screens
import TestKit
import Testing

@testable import Larder

@Suite("The contract is assembled")
struct AssemblyTests {
    @Test("openapi.yaml is the output of `larder contract`")
    func committed() throws {
        let text = try AppList.standard.contract().root.yamlText
        #expect(text == (try Repository.text("openapi.yaml")), "larder contract > openapi.yaml")
    }

    @Test("The document of one app has its routes and the components that they use", arguments: ["ships", "web"])
    func parts(tag: String) throws {
        let whole = try AppList.standard.contract()
        let part = try whole.part(of: tag)
        let paths = try #require(part["paths"]?.object?.members)
        let operations = paths.flatMap { $0.value.object?.members ?? [] }.filter { $0.value["operationId"] != nil }
        #expect(!operations.isEmpty && operations.allSatisfy { $0.value["tags"] == [.string(tag)] })
        #expect(part["tags"]?.array?.compactMap { $0["name"]?.string } == [tag])
        let schemas = { (document: JSONValue) in document["components"]?["schemas"]?.object?.members.count ?? 0 }
        #expect(schemas(part) < schemas(whole.root) / 3)
        for reference in Self.references(in: part) {
            let parts = reference.split(separator: "/").map(String.init)
            #expect(part[parts[1]]?[parts[2]]?[parts[3]] != nil, "\(reference)")
        }
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .array(let items): items.flatMap(references)
        case .object(let object):
            object.members.flatMap { $0.name == "$ref" ? [$0.value.string ?? ""] : references(in: $0.value) }
        default: []
        }
    }

    /// The shared parts of a small contract.
    private static let server = """
        document: {openapi: 3.1.0, info: {title: Test}}
        kinds: {screen: {headers: {}}}
        groups: {store: [internal, storage-failed, store-unavailable, storage-full]}
        schemas:
          Problem: {code: {type: string, values: problems}}
          Meta: {screen: string}
          Links: {self: uri}
        """

    private func document(_ text: String) throws -> JSONValue {
        let codes = AppList.standard.problems
        return try ContractDocument(
            ContractSources(server: [Self.server], apps: [(text, Sea.declarations)], codes: codes)
        ).root
    }

    /// An app with a route that has a query parameter.
    private struct Sea: App {
        static let name = "sea"
        static let title: Text = "Sea"
        static var routes: [AppRoute<Self>] {
            [Route(.get, "/v1/sea", "sea.all", { _ in { _ in ScreenResponse(body: .none) } }).query("q")]
        }
        init(_ context: AppContext) throws {}
    }

    @Test("An example of a screen conforms by construction: members that are required, with their own examples")
    func samples() throws {
        let document = try document(
            """
            tags: [{name: sea}]
            routes: {/v1/sea: {get: {id: getSea, returns: {'200': Sea}, etag: none,
              fields: [-Accept-Language, -X-Request-Id]}}}
            parameters: {Q: {name: q, in: query, schema: {type: string}}}
            schemas:
              SeaData: {waves: [Wave], calm: boolean, 'note?': string, deepest: {type: 'Wave?', example: {height_m: 9}}}
              Wave: {height_m: {type: number, minimum: 2}, name: {type: 'string?', example: Big}}
            """
        )
        let example = document["components"]?["examples"]?["getSea"]?["value"]
        let wave: JSONValue = ["height_m": 2, "name": "Big"]
        #expect(example?["data"] == ["waves": [wave], "calm": false, "deepest": ["height_m": 9, "name": "Big"]])
        #expect(example?["meta"]?["screen"] == "sea.all" && example?["links"]?["self"] == "/v1/sea")
        let schema = document["components"]?["schemas"]?["SeaData"]
        #expect(schema?["required"] == ["waves", "calm", "deepest"])
        #expect(schema?["properties"]?["deepest"]?["oneOf"]?.array?.count == 2)
        let statuses = document["paths"]?["/v1/sea"]?["get"]?["responses"]?.object?.members.map(\.name)
        #expect(statuses == ["200", "400", "403", "408", "414", "421", "431", "500", "503", "507"])
    }

    @Test("A schema takes the members of several others, and its example has those that differ")
    func likeOthers() throws {
        let document = try document(
            """
            tags: [{name: sea}]
            routes: {/v1/sea: {get: {id: getSea, returns: {'200': Sea}, fields: [-Accept-Language, -X-Request-Id]}}}
            parameters: {Q: {name: q, in: query, schema: {type: string}}}
            schemas:
              Deep: {depth_m: {type: integer, minimum: 0}, name: {type: text, example: Deep}}
              Counted: {revision: {type: integer, example: 7}}
              SeaData: {$like: [Deep, Counted], $example: {name: Aral}, depth_m: {maximum: 9}}
            """
        )
        let example = document["components"]?["examples"]?["getSea"]?["value"]
        #expect(example?["data"] == ["depth_m": 0, "name": "Aral", "revision": 7])
        #expect(example?["meta"]?["revision"] == 7)
        let schemas = document["components"]?["schemas"]
        let depth = schemas?["SeaData"]?["properties"]?["depth_m"]
        #expect(depth?["maximum"] == 9 && depth?["type"] == "integer")
        #expect(schemas?["Deep"] == nil)
    }

    @Test(
        "A text that contradicts itself is a defect that names the place",
        arguments: [
            ("{get: {id: a, returns: {'200': Nothing}}}", "there is no schema Nothing"),
            ("{get: {id: a, returns: {}}}", "get /v1/sea: the parameter q is not described"),
            ("{get: {id: a, kind: boat, returns: {}}}", "get /v1/sea: there is no kind of routes boat"),
            ("{get: {id: a, fields: [Other], returns: {}}}", "get /v1/sea: Other is no parameter of it"),
            ("{put: {id: a, returns: {}}}", "put /v1/sea: there is no such route"),
            ("{}", "get /v1/sea: the contract does not describe it"),
            ("{get: {id: a, problems: [sunk], returns: {}}}", #"there is no problem ["sunk"]"#),
            ("{get: {returns: {}}}", "get /v1/sea: it has no id"),
        ]
    )
    func defects(methods: String, reason: String) {
        let fields = "fields: [-Accept-Language, -X-Request-Id]"
        let methods = methods.contains("fields") ? methods : methods.replacing("id: a", with: "id: a, \(fields)")
        let query = reason.contains("not described") ? "" : "parameters: {Q: {name: q, in: query, schema: string}}"
        let text = "tags: [{name: sea}]\nroutes: {/v1/sea: \(methods)}\n\(query)"
        #expect(throws: ContractDefect(reason)) { try document(text) }
    }
}
