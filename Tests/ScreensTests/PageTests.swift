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
    }

    @Test("SRV-06 All members are there, null where there is nothing")
    func encoding() throws {
        let text = String(
            decoding: try WireFormat.encode(Page(PageRequest(limit: 20, offset: 0), count: 2, total: nil)),
            as: UTF8.self
        )
        #expect(text == #"{"count":2,"has_more":false,"limit":20,"next_offset":null,"offset":0,"total":null}"#)
    }
}
