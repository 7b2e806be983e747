import HTTPTypes
import Testing

@testable import Screens

struct RouteTableTests {
    private let table = RouteTable(
        [
            (HTTPRequest.Method.get, "/v1/ships"), (.get, "/v1/ships/launch"), (.post, "/v1/ships/restore"),
            (.get, "/v1/ships/{id}"),
            (.delete, "/v1/ships/{id}"),
            (.get, "/v1/ships/{id}/image"), (.put, "/v1/a/{x}/c"), (.get, "/"),
        ].map { Route($0.0, $0.1, "s") { _ in plain("") } }
    )

    private func allowed(_ path: String) -> String {
        table.allowedMethods(path: path).map(\.rawValue).joined(separator: " ")
    }

    @Test("SRV-06 The methods of a path: HEAD with GET, OPTIONS always")
    func allowed() {
        #expect(allowed("/v1/ships") == "GET HEAD OPTIONS")
        #expect(allowed("/v1/ships/abc") == "GET HEAD DELETE OPTIONS")
        #expect(allowed("/v1/a/b/c") == "PUT OPTIONS")
        #expect(allowed("/") == "GET HEAD OPTIONS")
    }

    @Test("SRV-06 A fixed path hides a parameter, as it does in the router")
    func fixedPaths() {
        #expect(allowed("/v1/ships/launch") == "GET HEAD OPTIONS")
        #expect(allowed("/v1/ships/restore") == "POST OPTIONS")
        #expect(allowed("/v1/ships/launch/image") == "GET HEAD OPTIONS")
    }

    @Test(
        "Where there is nothing, nothing is allowed",
        arguments: ["/v1", "/v1/ship", "/v1/ships/a/b", "/v1/ships/a/image/x", "", "/V1/ships"]
    )
    func nothing(path: String) {
        #expect(allowed(path) == (path.isEmpty ? "GET HEAD OPTIONS" : ""))
    }

    private static let divided = RouteTable(
        [Route(.get, "/v1/ships", "ships.list") { _ in ScreenResponse(body: .none) }],
        elsewhere: ["shop"]
    )

    @Test(
        "SCALE-19 Only paths of an app that another process serves are elsewhere",
        arguments: [
            ("/v1/shop", true), ("/v1/shop/", true), ("/v1/shop/catalogue/1", true), ("/v1/shops", false),
            ("/v1/ships", false), ("/shop", false), ("/v1", false), ("/v1/", false), ("", false),
        ]
    )
    func elsewhere(path: String, isElsewhere: Bool) {
        #expect((Self.divided.appElsewhere(path: path) != nil) == isElsewhere)
    }

    @Test("A table without other processes has nothing elsewhere")
    func none() {
        #expect(RouteTable([]).appElsewhere(path: "/v1/shop") == nil)
    }
}
