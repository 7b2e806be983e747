import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Responses to HEAD (RFC 9111 §4.3.5)")
struct HeadEffectTests {
    private func effects(_ response: HTTPFields, status: HTTPResponse.Status = .ok, on stored: CachedResponseHead...)
        -> [HeadEffect]
    {
        Sample.shared.effects(
            ofHead: Sample.response(response, status: status),
            to: Sample.request(.head),
            candidates: stored,
            requestTime: Sample.now,
            responseTime: Sample.now
        )
    }

    @Test("A response that describes the same representation freshens it and keeps fields that it does not have")
    func same() {
        let stored = Sample.stored(
            [.cacheControl: "max-age=2", .made("A"): "1", .made("B"): "1", .contentLength: "5"],
            age: 9
        )
        guard
            case .update(let update)? = effects(
                [.cacheControl: "max-age=1000", .made("A"): "2", .contentLength: "5"],
                on: stored
            ).first
        else {
            Issue.record("not updated")
            return
        }
        #expect(update.stored.headerFields[.made("A")] == "2" && update.stored.headerFields[.made("B")] == "1")
        #expect(Sample.shared.freshness(of: update.stored, at: Sample.now).isFresh)
    }

    @Test("Another tag, date or length makes the stored response outdated")
    func different() {
        let stored = Sample.stored([.eTag: "\"a\"", .lastModified: Sample.date(-9), .contentLength: "5"])
        #expect(effects([.eTag: "\"b\""], on: stored) == [.outdated(index: 0)])
        #expect(effects([.lastModified: Sample.date(-8)], on: stored) == [.outdated(index: 0)])
        #expect(effects([.contentLength: "6"], on: stored) == [.outdated(index: 0)])
        #expect(effects([.eTag: "\"a\""], on: Sample.stored([:])) == [.outdated(index: 0)])
    }

    @Test("Other statuses, and stored responses of other statuses, are unchanged")
    func statuses() {
        #expect(effects([:], status: .gone, on: Sample.stored([:])).isEmpty)
        #expect(effects([:], on: Sample.stored([:], status: .notFound)).isEmpty)
    }
}
