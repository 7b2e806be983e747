import Testing

@testable import Sandbox

@Suite struct ServedRoutesTests {
    private let served = ServedRoutes([
        "GET /v1/ships", "GET /v1/ships/{id}", "POST /v1/notes", "GET /v1/upstreams/{name}/**",
        "GET /v1/shop/list/items",
    ])

    @Test(
        "HARN-34 a route that the server has may be expected",
        arguments: [
            "/v1/ships", "get /v1/ships", "HEAD /v1/ships", "OPTIONS /v1/notes", "/v1/ships/{id}", "/v1/ships/abc",
            "/v1/ships/*", "/v1/**", "/**", "DELETE /v1/upstreams/spacex/v4/ships", "POST /v1/notes", "/v1/shop/**",
        ]
    )
    func served(route: String) throws {
        #expect(
            try served.checked(try FrontRoute.match(route), field: "route", value: route).path.isEmpty
                == (route == "/**")
        )
    }

    @Test(
        "HARN-34 one that it has not is refused with the nearest",
        arguments: [
            ("/v1/shps", "GET /v1/ships"), ("DELETE /v1/ships", "GET /v1/ships"),
            ("/v1/ships/1/2", "GET /v1/ships/{id}"),
            ("/v1/note", "POST /v1/notes"), ("/v2/**", "GET /v1/ships"), ("/v1/shop/list", "GET /v1/shop/list/items"),
        ]
    )
    func unknown(route: String, nearest: String) throws {
        let match = try FrontRoute.match(route)
        let problem = #expect(throws: ControlProblem.self) { try served.checked(match, field: "route", value: route) }
        #expect(problem?.accepted.prefix(2).contains(nearest) == true, "\(problem?.accepted ?? [])")
        #expect(try ServedRoutes([]).checked(match, field: "route", value: route) == match)
    }
}
