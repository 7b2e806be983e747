import Foundation
import HTTP
import TestKit
import Testing

@testable import Screens

@Suite struct EnvelopeTests {
    private struct Content: Encodable {
        let firstName: String
        @Nullable var lastName: String?
        let counts: [String: Int]
    }

    private func text<Content>(_ envelope: Envelope<Content>) throws -> String {
        try String(decoding: WireFormat.encode(envelope), as: UTF8.self).sortedJSON
    }

    @Test("SRV-06 The whole envelope, byte for byte")
    func whole() throws {
        let envelope = Envelope(
            data: Content(firstName: "A/B", lastName: nil, counts: ["keyOfData": 1]),
            meta: Meta(
                screen: "ships.list",
                state: .empty,
                provenance: Provenance(source: .upstream, offline: true, validatedAt: ten.addingTimeInterval(0.9)),
                revision: 8,
                partial: true,
                banner: Banner(code: "offline", text: "No internet", dismissal: .online),
                page: Page(PageRequest(limit: 20, offset: 0), count: 20, total: 29)
            ),
            links: Links(self: "/v1/ships", next: "/v1/ships?limit=20&offset=20")
        )
        let meta = [
            #"{"banner":{"code":"offline","dismiss":"on_online","text":"No internet"},"#,
            #""fetched_at":"2026-01-05T10:00:00Z","#,
            #""freshness_text":"Received 05.01.2026 10:00 UTC: the service cannot be reached at the moment.","#,
            #""labels":[],"offline":true,"#,
            #""page":{"count":20,"has_more":true,"limit":20,"next_offset":20,"offset":0,"total":29},"#,
            #""partial":true,"revision":8,"#,
            #""screen":"ships.list","source":"upstream","stale":true,"state":"empty","title":""}"#,
        ].joined()
        #expect(
            try text(envelope)
                == #"{"data":{"counts":{"keyOfData":1},"first_name":"A/B","last_name":null},"#
                + #""links":{"next":"/v1/ships?limit=20&offset=20","self":"/v1/ships"},"meta":\#(meta)}"#
        )
    }

    @Test("SRV-06 What there is nothing of is null or left out, always the same")
    func least() throws {
        let envelope = Envelope(
            data: [String](),
            meta: Meta(screen: "index", provenance: .local),
            links: Links(self: "/v1")
        )
        let meta =
            #"{"banner":null,"fetched_at":null,"labels":[],"offline":false,"screen":"index","source":"local","#
            + #""stale":false,"state":"content","title":""}"#
        #expect(try text(envelope) == #"{"data":[],"links":{"next":null,"self":"/v1"},"meta":\#(meta)}"#)
    }

    @Test("A banner that disappears by itself says when")
    func banner() throws {
        let bytes = try WireFormat.encode(Banner(code: "c", text: "t", dismissal: .after(seconds: 3)))
        #expect(
            try String(decoding: bytes, as: UTF8.self).sortedJSON
                == #"{"after_s":3,"code":"c","dismiss":"after_s","text":"t"}"#
        )
    }

    @Test("An action's confirmation is null if nothing is asked")
    func action() throws {
        let bytes = try WireFormat.encode(Action(id: "a", title: "A", method: "GET", href: "/v1"))
        #expect(
            try String(decoding: bytes, as: UTF8.self).sortedJSON
                == #"{"confirm":null,"enabled":true,"href":"/v1","id":"a","method":"GET","title":"A"}"#
        )
    }

    @Test("Equal values give equal bytes")
    func stable() throws {
        let content = Content(
            firstName: "a",
            lastName: "b",
            counts: Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", $0) })
        )
        let first = try WireFormat.encode(content)
        for _ in 1...5 { #expect(try WireFormat.encode(content) == first) }
    }
}

@Suite struct PageTests {
    @Test("SRV-06 With a total, more follows until it is reached")
    func total() {
        #expect(Page(PageRequest(limit: 20, offset: 0), count: 20, total: 29).nextOffset == 20)
        let last = Page(PageRequest(limit: 20, offset: 20), count: 9, total: 29)
        #expect(!last.hasMore && last.nextOffset == nil)
        let past = Page(PageRequest(limit: 20, offset: 100), count: 0, total: 29)
        #expect(!past.hasMore && past.nextOffset == nil)
        #expect(!Page(PageRequest(limit: 20, offset: 0), count: 20, total: 20).hasMore)
    }

    @Test("Without a total the caller knows")
    func noTotal() {
        #expect(Page(PageRequest(limit: 20, offset: 40), count: 20, total: nil, hasMore: true).nextOffset == 60)
        #expect(!Page(PageRequest(limit: 20, offset: 40), count: 20, total: nil).hasMore)
    }

    @Test("The largest offset overflows nothing")
    func largest() {
        #expect(!Page(PageRequest(limit: 500, offset: .max), count: 0, total: 3).hasMore)
        #expect(Page(PageRequest(limit: 500, offset: .max), count: 9, total: nil, hasMore: true).nextOffset == .max)
    }

    @Test("SRV-06 All members are there, null where there is nothing")
    func encoding() throws {
        let text = String(
            decoding: try WireFormat.encode(Page(PageRequest(limit: 20, offset: 0), count: 2, total: nil)),
            as: UTF8.self
        )
        #expect(
            try text.sortedJSON
                == #"{"count":2,"has_more":false,"limit":20,"next_offset":null,"offset":0,"total":null}"#
        )
    }

    @Test("SRV-06 A page that a cursor names has no offsets; a bounded count says what it is at least")
    func key() throws {
        let request = PageRequest(limit: 20, after: [.integer(7)])
        let page = Page(request, count: 20, total: nil, totalAtLeast: 1000, hasMore: true)
        let text = String(decoding: try WireFormat.encode(page), as: UTF8.self)
        let expected =
            #"{"count":20,"has_more":true,"limit":20,"next_offset":null,"offset":null,"total":null,"#
            + #""total_at_least":1000}"#
        #expect(try text.sortedJSON == expected)
    }
}

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
                #expect(written == Data(#"{"self":"\#(expected[0])","next":"\#(expected[1])"}"#.utf8))
                #expect(try WireFormat.encode(links) == WireFormat.encode(expected))
            }
        }
    }
}
