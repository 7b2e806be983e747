import HTTPSemantics
import Testing

@testable import Screens

@Suite struct LinkTests {
    @Test("What is interpolated is percent-encoded; another link is continued")
    func pieces() {
        let (id, number) = ("a/b ?#й", 7)
        let item: Link = "/v1/shop/items/\(id)"
        #expect(item.requestTarget == "/v1/shop/items/a%2Fb%20%3F%23%D0%B9")
        #expect("\(item)/pages/\(number)" as Link == "/v1/shop/items/a%2Fb%20%3F%23%D0%B9/pages/7")
    }

    @Test("Parameters are appended, with an encoding that a query is read back from")
    func parameters() throws {
        let link = Link("/v1/x").query("q", "a&b=c+d е,:/").query("limit", "5")
        #expect(link.requestTarget == "/v1/x?q=a%26b%3Dc%2Bd%20%D0%B5,:/&limit=5")
        let query = QueryItems(String(link.requestTarget.dropFirst("/v1/x?".count)))
        #expect(try query.string("q") == "a&b=c+d е,:/")
        #expect(Link("/v1/x").query("path", "disk:/a", allowed: .unreserved).requestTarget == "/v1/x?path=disk%3A%2Fa")
    }

    @Test("Links to an app with profiles name that of the response, in JSON and in header fields; `local` has no name")
    func profiles() throws {
        let links: [Link] = ["/v1/shop/list", "/v1/shop/search?q=a", "/v1/shops", "/v1/disk/recent"]
        let plain = ["/v1/shop/list", "/v1/shop/search?q=a", "/v1/shops", "/v1/disk/recent"]
        let named = ["/v1/shop/list?profile=anna", "/v1/shop/search?q=a&profile=anna", "/v1/shops", "/v1/disk/recent"]
        for (name, expected) in [("anna", named), ("local", plain)] {
            try Link.Profile.$current.withValue(Link.Profile(name, of: "shop")) {
                #expect(links.map(\.requestTarget) == expected)
                let written = try WireFormat.encode(Links(self: links[0], next: links[1]))
                #expect(try WireFormat.encode(["next": expected[1], "self": expected[0]]) == written)
                #expect(try WireFormat.encode(links) == WireFormat.encode(expected))
            }
        }
    }
}
