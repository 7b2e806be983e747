import Foundation
import HTTP
import TestKit
import Testing

@testable import Screens

/// `JSONEncoder` is the judge of the parts that all screens have.
@Suite struct ScreenPartsTests {
    private func expectSame(_ value: some Encodable) throws {
        let (own, judged) = (try WireFormat.encode(value), try JSONEncoder.wire.encode(value))
        let read = try JSONSerialization.jsonObject(with: own) as? NSDictionary
        #expect(try read == JSONSerialization.jsonObject(with: judged) as? NSDictionary)
    }

    private static let provenances = [
        Provenance.local,
        Provenance(source: .upstream, offline: true, validatedAt: Date(timeIntervalSince1970: 1_767_607_200.7)),
        Provenance(source: .bundled, stale: true, validatedAt: Date(timeIntervalSince1970: 0)),
    ]

    @Test("SRV-06 meta is written as JSONEncoder writes it", arguments: provenances)
    func meta(provenance: Provenance) throws {
        let page = Page(PageRequest(limit: 2, offset: 4), count: 2, total: 9)
        let banners: [Banner?] = [
            nil, Banner(code: "offline", text: "No “internet”\n", dismissal: .online),
            Banner(code: "x", text: "", dismissal: .after(seconds: 3)),
        ]
        for banner in banners {
            try expectSame(Meta(screen: "a.b", provenance: provenance, banner: banner))
            try expectSame(
                Meta(
                    screen: "a.b",
                    state: .empty,
                    provenance: provenance,
                    revision: -1,
                    partial: true,
                    banner: banner,
                    page: page
                )
            )
        }
    }

    @Test("SRV-06 pages, links, actions and empty states are written as JSONEncoder writes them")
    func parts() throws {
        try expectSame(Page(PageRequest(limit: 1), count: 0, total: nil))
        try expectSame(Page(PageRequest(limit: 1), count: 1, total: 2))
        let behind = PageRequest(limit: 1, after: [.text("a")])
        try expectSame(Page(behind, count: 1, total: nil, totalAtLeast: 2, hasMore: true))
        try expectSame(Links(self: "/v1?a=\"b\""))
        try expectSame(Links(self: "/v1", next: "/v1?offset=1"))
        try expectSame(EmptyState(title: "a\\", text: "\u{1}\u{1F}\t", button: ""))
        let body: [String: Action.Constant] = ["z": .integer(-1), "a": .text("é\n"), "b c": .integer(3)]
        try expectSame(Action(id: "a", title: "b", method: "PUT", href: "/c", body: body))
        let fields = [Action.Field("name", .text, "a", value: "a\"b"), Action.Field("at", .integer, "b")]
        try expectSame(Action(id: "a", title: "b", method: "PUT", href: "/c", fields: fields))
        try expectSame(
            Action(
                id: "a",
                title: "b",
                method: "PUT",
                href: "/c",
                body: [:],
                disabled: "not now",
                confirm: .init(message: "?", buttons: ["yes", "no"])
            )
        )
    }

    @Test("SRV-06 times are written as Foundation writes them")
    func times() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let date = Date(timeIntervalSince1970: .random(in: -70_000_000_000...260_000_000_000, using: &random))
            #expect(WireFormat.timestamp(date) == date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)))
        }
        for second in [0, -1, 951_782_399, 951_782_400, 4_107_542_399, 4_107_542_400, 253_402_300_799, 253_402_300_800]
        {
            let date = Date(timeIntervalSince1970: Double(second))
            #expect(WireFormat.timestamp(date) == date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)))
        }
    }
}
