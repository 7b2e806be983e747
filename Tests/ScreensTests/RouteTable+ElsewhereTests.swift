import HTTPTypes
import TestKit
import Testing

@testable import Screens

struct RouteTableElsewhereTests {
    private let table = RouteTable(
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
        #expect((table.appElsewhere(path: path) != nil) == isElsewhere)
    }

    @Test("A table without other processes has nothing elsewhere")
    func none() {
        #expect(RouteTable([]).appElsewhere(path: "/v1/shop") == nil)
    }
}
