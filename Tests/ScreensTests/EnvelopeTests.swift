import Foundation
import Freshness
import Testing

@testable import Screens

@Suite struct EnvelopeTests {
    private struct Content: Encodable {
        let firstName: String
        @Nullable var lastName: String?
        let counts: [String: Int]
    }

    private func text<Content>(_ envelope: Envelope<Content>) throws -> String {
        String(decoding: try WireFormat.encode(envelope), as: UTF8.self)
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
            #""fetched_at":"2026-01-05T10:00:00Z","offline":true,"#,
            #""page":{"count":20,"has_more":true,"limit":20,"next_offset":20,"offset":0,"total":29},"#,
            #""partial":true,"revision":8,"#,
            #""screen":"ships.list","source":"upstream","stale":true,"state":"empty"}"#,
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
            #"{"banner":null,"fetched_at":null,"offline":false,"screen":"index","source":"local","#
            + #""stale":false,"state":"content"}"#
        #expect(try text(envelope) == #"{"data":[],"links":{"next":null,"self":"/v1"},"meta":\#(meta)}"#)
    }

    @Test("A banner that disappears by itself says when")
    func banner() throws {
        let bytes = try WireFormat.encode(Banner(code: "c", text: "t", dismissal: .after(seconds: 3)))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"after_s":3,"code":"c","dismiss":"after_s","text":"t"}"#)
    }

    @Test("An action's confirmation is null if nothing is asked")
    func action() throws {
        let bytes = try WireFormat.encode(Action(id: "a", title: "A", method: "GET", href: "/v1"))
        #expect(
            String(decoding: bytes, as: UTF8.self)
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
