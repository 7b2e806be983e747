import Foundation
import Testing

@testable import Storage

@Suite struct CacheBudgetTests {
    @Test("Within the budget nothing has to go; above it as much as leaves nine tenths")
    func waterMarks() {
        let budget = CacheBudget(bytes: 1000)
        #expect(!budget.isExceeded(by: 1000))
        #expect(budget.isExceeded(by: 1001))
        #expect(budget.excess(of: 1001) == 101)
        #expect(budget.excess(of: 900) == 0)
        #expect(budget.excess(of: 10) == 0)
    }

    @Test("What would push out everything else is not admitted")
    func persistRows() {
        let budget = CacheBudget(bytes: 1000)
        #expect(budget.admits(900))
        #expect(!budget.admits(901))
        #expect(!CacheBudget(bytes: 0).admits(1))
        #expect(CacheBudget.unlimited.admits(1 << 40))
    }

    @Test("The least recently used go first, whatever they are, and no more than needed")
    func victims() {
        let candidates = [
            CacheEviction.Candidate(kind: .response, id: 1, size: 10, lastUsed: 50),
            CacheEviction.Candidate(kind: .response, id: 2, size: 10, lastUsed: 20),
            CacheEviction.Candidate(kind: .page, id: 1, size: 5, lastUsed: 30),
        ]
        #expect(CacheEviction.victims(freeing: 1, among: candidates).map(\.lastUsed) == [20])
        #expect(CacheEviction.victims(freeing: 10, among: candidates).map(\.lastUsed) == [20])
        #expect(CacheEviction.victims(freeing: 11, among: candidates).map(\.lastUsed) == [20, 30])
        #expect(CacheEviction.victims(freeing: 1000, among: candidates).map(\.lastUsed) == [20, 30, 50])
        #expect(CacheEviction.victims(freeing: 0, among: candidates).isEmpty)
    }

    @Test("One step removes a batch at most, however much has to go")
    func batch() {
        let candidates = (0..<1000).map { CacheEviction.Candidate(kind: .response, id: $0, size: 1, lastUsed: $0) }
        #expect(CacheEviction.victims(freeing: 1000, among: candidates).count == CacheEviction.batch)
    }

    @Test(
        "The path of a URL is what stands between authority and query",
        arguments: [
            ("https://a.test/v4/ships?x=/y", "/v4/ships"), ("https://a.test", "/"), ("https://a.test?x", "/"),
            ("http://u@[::1]:80/", "/"),
        ]
    )
    func path(url: String, path: String) {
        #expect(CachePurge.path(of: url) == path[...])
    }

    @Test("A purge means what all its conditions name")
    func purge() {
        func matches(_ purge: CachePurge) -> Bool {
            purge.matches(upstream: "ships", url: "https://a.test/v4/ships?q", received: noon)
        }
        #expect(matches(CachePurge()))
        #expect(matches(CachePurge(upstream: "ships", pathPrefix: "/v4/", receivedBefore: noon + 1)))
        #expect(!matches(CachePurge(upstream: "other", pathPrefix: "/v4/")))
        #expect(!matches(CachePurge(pathPrefix: "/v5/")))
        #expect(!matches(CachePurge(pathPrefix: "/v4/ships?")))
        #expect(!matches(CachePurge(receivedBefore: noon)))
    }
}
