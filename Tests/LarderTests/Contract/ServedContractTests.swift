import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Larder

@Suite("The contract as it is served")
struct ServedContractTests {
    @Test("HARN-27 GET /openapi.yaml is the document of this version, /openapi.json says the same, GET /v1 names it")
    func served() async throws {
        try await withLarder { larder in
            let index = try await larder.send("GET", "/v1").json
            let path = try #require(index.at(pointer: "/data/contract_url")?.string)
            let yaml = try await larder.send("GET", path)
            #expect(yaml.headers["content-type"] == "application/yaml; charset=utf-8")
            #expect(yaml.text == (try Repository.text("openapi.yaml")))
            let json = try await larder.send("GET", "/openapi.json")
            #expect(json.headers["content-type"] == "application/json; charset=utf-8")
            #expect(try json.json == OpenAPIDocument.published().root)
            #expect(json.text.hasPrefix(#"{"openapi":"3.1.0","#), "members are in their order")
        }
    }

    @Test("HARN-27 ?app= is the document of one app, in both forms; another name is 400 and lists those that there are")
    func parts() async throws {
        try await withLarder { larder in
            let yaml = try await larder.send("GET", "/openapi.yaml?app=ships")
            #expect(yaml.status == 200 && yaml.headers["content-type"] == "application/yaml; charset=utf-8")
            let json = try await larder.send("GET", "/openapi.json?app=ships")
            #expect(try JSON(yaml: yaml.text) == (try json.json))
            let paths = try #require(try json.json["paths"]?.object)
            #expect(Set(paths.keys.map { $0.split(separator: "/").prefix(2).joined(separator: "/") }) == ["v1/ships"])
            for name in ["", "boats", "Ships", "%F0%9F%9A%A2", "ships&app=disk"] {
                let refused = try await larder.send("GET", "/openapi.yaml?app=\(name)")
                #expect(refused.status == 400, "\(name)")
                #expect(try refused.json["code"] == .string("invalid-parameter"), "\(name)")
            }
            #expect(try await larder.send("GET", "/openapi.json?app=boats").text.contains("ships, shop, notes"))
        }
    }

    @Test("HARN-27 It can be cached, is compressed, and is not sent again to a client that has it")
    func cached() async throws {
        try await withLarder { larder in
            for path in ["/openapi.yaml", "/openapi.json"] {
                let whole = try await larder.send("GET", path)
                let zipped = try await larder.send("GET", path, ["Accept-Encoding": "gzip"])
                #expect(zipped.headers["content-encoding"] == "gzip" && zipped.content == whole.content)
                #expect(zipped.body.count < whole.body.count / 4)
                #expect(whole.headers["cache-control"]?.contains("max-age=") == true)
                let tag = try #require(whole.headers["etag"])
                #expect(try await larder.send("GET", path, ["If-None-Match": tag]).status == 304)
            }
        }
    }

    @Test("HARN-27 Each route of the index has a URI template of all that goes into its address")
    func templates() async throws {
        let document = try OpenAPIDocument.published()
        try await withLarder { larder in
            let data = try #require(try await larder.send("GET", "/v1").json["data"])
            let entries = data.apps.elements.flatMap(\.screens.elements) + data.screens.elements
            #expect(entries.count > 100)
            let open = larder.application.table.routes.filter(\.input.takesAnyParameter)
            let takingAny = Set(document.mounts.map(\.key) + open.map { "\($0.method.rawValue) \($0.path)" })
            for entry in entries {
                let key = "\(entry.method.string ?? "") \(entry.href.string ?? "")"
                let operation = try #require(document.operation(key), "\(key)")
                let parameters = try (operation.shared + operation.value.parameters.elements).map(document.resolved)
                let ofAddress = parameters.filter { ["path", "query"].contains($0["in"]?.string) }
                let described = ofAddress.compactMap(\.name.string)
                let template = try #require(entry.template.string, "\(key)")
                // RFC 6570: `{id}`, `{+path}`, `{?limit,cursor}`, `{?query*}`.
                let expressions = template.matches(of: #/\{[+?]?([^}]+)\}/#)
                let named = expressions.flatMap { $0.1.split(separator: ",").map(String.init) }
                #expect(Set(named) == Set(described + (takingAny.contains(key) ? ["query*"] : [])), "\(key)")
            }
        }
    }
}
