import TestKit
import Testing

@Suite("Every path")
struct EverywhereTests {
    /// Header fields that may differ between a GET and a HEAD: time has passed, and each request has its own id.
    static let volatile: Set<String> = ["date", "x-request-id", "age", "cache-status", "transfer-encoding"]

    let document: OpenAPIDocument
    let conformance: Conformance

    init() throws {
        document = try OpenAPIDocument.load()
        conformance = Conformance(document: document)
    }

    private func everywhere(_ name: String) throws -> JSON {
        try #require(document.root["x-larder-everywhere"]?[name])
    }

    /// Paths with the methods that `Allow` is to list.
    private var paths: [String: Set<String>] {
        Dictionary(grouping: document.operations, by: \.path).mapValues { operations in
            let methods = Set(operations.map(\.method))
            return methods.union(methods.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"])
        }
    }

    private func expectMethods(_ field: String, of response: ReceivedResponse, _ allowed: Set<String>, _ path: String) {
        let listed = Set((response.headers[field] ?? "").split(separator: ", ").map(String.init))
        #expect(listed == allowed, "\(field) of \(path)")
    }

    @Test("SRV-06 OPTIONS lists the methods of every path, without a session")
    func options() async throws {
        try await withLarder { larder in
            for (path, allowed) in paths {
                let response = try await larder.send("OPTIONS", ContractScenario.filled(path))
                #expect(response.status == 204, "\(path)")
                expectMethods("allow", of: response, allowed, path)
                #expect(try conformance.faults(of: response, documented: try everywhere("options")) == [], "\(path)")
            }
        }
    }

    @Test("SRV-06 A method that a path does not have is 405 with its methods")
    func methodNotAllowed() async throws {
        try await withLarder { larder in
            for (path, allowed) in paths {
                for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]
                where !allowed.contains(method) {
                    let response = try await larder.send(method, ContractScenario.filled(path))
                    #expect(response.status == 405, "\(method) \(path)")
                    expectMethods("allow", of: response, allowed, path)
                    #expect(
                        try conformance.faults(of: response, documented: try everywhere("method_not_allowed")) == [],
                        "\(method) \(path)"
                    )
                }
            }
        }
    }

    @Test("SRV-06 A path that does not exist is 404, whatever the method")
    func unknownPath() async throws {
        try await withLarder { larder in
            for method in ["GET", "HEAD", "POST", "OPTIONS", "PROPFIND"] {
                for path in ["/web", "/v2", "/v1/boats", "/v1/ships/\(ContractScenario.ship)/image/large"] {
                    let response = try await larder.send(method, path)
                    #expect(response.status == 404, "\(method) \(path)")
                    #expect(
                        try conformance.faults(
                            of: response,
                            documented: try everywhere("unknown_path"),
                            isHead: method == "HEAD"
                        ) == [],
                        "\(method) \(path)"
                    )
                }
            }
        }
    }

    @Test("SRV-06 HEAD sends what GET does, without the body")
    func head() async throws {
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let member = try await interview.session()
            try await interview.ask("GET /v1/ships", member)
            try await interview.ask("GET /v1/ships/{id}/image", member)
            for operation in ["GET /v1/shop/search", "GET /v1/shop/categories", "GET /v1/shop/products/{id}"] {
                try await interview.ask(operation)
            }
            for operation in document.operations where operation.method == "GET" {
                let path = ContractScenario.filled(operation.path)
                let get =
                    operation.path == "/v1/events"
                    ? try await larder.listen { _ in true } : try await larder.send("GET", path, member)
                let head = try await larder.send("HEAD", path, member)
                // A request changes the metrics that the next one reads.
                let ignored = Self.volatile.union(operation.path == "/metrics" ? ["content-length"] : [])
                #expect(head.body.isEmpty && head.status == get.status, "\(path)")
                let (ofHead, ofGet) = (
                    head.headers.filter { !ignored.contains($0.key) }, get.headers.filter { !ignored.contains($0.key) }
                )
                #expect(ofHead == ofGet, "\(path)")
            }
        }
    }

    @Test("SRV-11 Responses to a listed origin carry the CORS fields, also when they are problems")
    func cors() async throws {
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let member = try await interview.session()
            let origin = ["Origin": "https://shop.example", "Content-Type": "application/json"]
            let fields = try #require(try everywhere("cors").object)
            for operation in document.operations where operation.path != "/v1/events" {
                for headers in [origin, origin.merging(member) { own, _ in own }] {
                    let response = try await interview.ask(
                        operation.key,
                        headers,
                        body: ContractScenario.bodiesWithoutSession[operation.key]
                    )
                    let documented = try #require(operation.responses[String(response.status)], "\(operation.key)")
                    let faults = try conformance.faults(of: response, documented: documented, additional: fields)
                    #expect(faults == [], "\(operation.key) \(response.status): \(faults)")
                    #expect(response.headers["access-control-allow-origin"] == "https://shop.example")
                    #expect(response.headers["vary"]?.contains("Origin") == true, "\(operation.key)")
                }
            }
        }
    }

    @Test("SRV-11 The preflight of a listed origin is told its rights, that of another origin is not")
    func preflight() async throws {
        try await withLarder { larder in
            for (path, allowed) in paths {
                let target = ContractScenario.filled(path)
                let listed = try await larder.send(
                    "OPTIONS",
                    target,
                    ["Origin": "https://shop.example", "Access-Control-Request-Method": "DELETE"]
                )
                #expect(try conformance.faults(of: listed, documented: try everywhere("preflight")) == [], "\(path)")
                expectMethods("access-control-allow-methods", of: listed, allowed, path)
                let other = try await larder.send(
                    "OPTIONS",
                    target,
                    ["Origin": "https://evil.example", "Access-Control-Request-Method": "DELETE"]
                )
                #expect(try conformance.faults(of: other, documented: try everywhere("options")) == [], "\(path)")
                #expect(
                    listed.headers["vary"]?.contains("Origin") == true
                        && other.headers["vary"]?.contains("Origin") == true,
                    "\(path)"
                )
            }
        }
    }

    @Test("ONE-07 every row of every list of an app has an id, which no other row of the list has")
    func rows() async throws {
        try await withLarder { larder in
            let apps: Set = ["disk", "notes", "shop", "ships", "pdf"]
            var lists: Set<String> = []
            for read in try await StoredReads(larder).all() {
                guard read.operation.split(separator: "/").dropFirst(2).first.map({ apps.contains(String($0)) }) == true
                else { continue }
                let response = try await larder.send("GET", read.target, read.headers)
                guard response["Content-Type"]?.hasPrefix("application/json") == true else { continue }
                for (name, rows) in try response.json["data"]?.object ?? [:] where name != "actions" {
                    let ids = rows.elements.filter { $0.object != nil }.map { $0["id"] }
                    #expect(!ids.contains(nil) && !ids.contains(.null), "\(read.operation) \(name)")
                    #expect(
                        Set(ids.map { "\(String(describing: $0))" }).count == ids.count,
                        "\(read.operation) \(name)"
                    )
                    if !ids.isEmpty { lists.insert("\(read.operation.dropFirst(8)) \(name)") }
                }
            }
            let disk = ["recent", "files", "search", "outbox", "trash"].map { "disk/\($0) items" }
            let notes = ["notes items", "notes/map pins", "notes/cities items", "notes/people items"]
            let shop = ["search", "history", "categories", "list", "suggestions", "favourites"].map {
                "shop/\($0) items"
            }
            let all = disk + notes + shop + ["ships items", "pdf/documents items", "pdf/documents/{id} pages"]
            #expect(lists.isSuperset(of: all), "\(lists.sorted())")
        }
    }

    @Test("SRV-12 A harmless X-Request-Id is sent back, any other is replaced")
    func requestIdentity() async throws {
        try await withLarder { larder in
            #expect(
                try await larder.send("GET", "/v1", ["X-Request-Id": "test-17"]).headers["x-request-id"] == "test-17"
            )
            for wanted in ["a b", String(repeating: "a", count: 129), "é"] {
                let response = try await larder.send("GET", "/v1", ["X-Request-Id": wanted])
                #expect(response.headers["x-request-id"].map { !$0.isEmpty && $0 != wanted } == true, "\(wanted)")
            }
        }
    }

    @Test("SRV-06 A compressed body is the same body with an entity tag of its own; pictures are not compressed")
    func compression() async throws {
        try await withLarder(["--upstreams-spacex-patience-ms", "60000"]) { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let member = try await interview.session()
            let zipping = member.merging(["Accept-Encoding": "gzip"]) { own, _ in own }
            try await interview.ask("GET /v1/ships", member)
            let plain = try await interview.ask("GET /v1/ships", member)
            let zipped = try await interview.ask("GET /v1/ships", zipping)
            #expect(plain.headers["content-encoding"] == nil && zipped.headers["content-encoding"] == "gzip")
            #expect(plain.content == zipped.content)
            #expect(plain.headers["etag"] != zipped.headers["etag"])
            let tag = try #require(zipped.headers["etag"])
            #expect(
                try await interview.ask("GET /v1/ships", zipping.merging(["If-None-Match": tag]) { own, _ in own })
                    .status == 304
            )
            #expect(try await interview.ask("GET /v1/ships/{id}/image", zipping).headers["content-encoding"] == nil)
        }
    }
}
