import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Larder

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
