import Foundation
import Testing

@testable import Screens

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
        #expect(text == #"{"count":2,"has_more":false,"limit":20,"next_offset":null,"offset":0,"total":null}"#)
    }

    @Test("SRV-06 A page that a cursor names has no offsets; a bounded count says what it is at least")
    func key() throws {
        let request = PageRequest(limit: 20, after: [.integer(7)])
        let page = Page(request, count: 20, total: nil, totalAtLeast: 1000, hasMore: true)
        let text = String(decoding: try WireFormat.encode(page), as: UTF8.self)
        let expected =
            #"{"count":20,"has_more":true,"limit":20,"next_offset":null,"offset":null,"total":null,"#
            + #""total_at_least":1000}"#
        #expect(text == expected)
    }
}
