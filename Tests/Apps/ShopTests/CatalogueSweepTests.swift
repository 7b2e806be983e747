import Foundation
import Testing

@testable import Shop

@Suite("Following the catalogue's list")
struct CatalogueSweepTests {
    private let start = Date(timeIntervalSince1970: 0)

    @Test("the list is complete with a part that has fewer rows than requested, if nothing before it is missing")
    func complete() {
        var sweep = CatalogueSweep()
        #expect(sweep.take([1, 2, 3], offset: 0, limit: 3, at: start) == nil)
        #expect(sweep.take([3, nil, 5], offset: 2, limit: 3, at: start) == nil)
        #expect(sweep.take([6], offset: 5, limit: 3, at: start) == [1, 2, 3, 5, 6])
        #expect(sweep.take([6], offset: 5, limit: 3, at: start) == nil, "only once")
        #expect(sweep.take([], offset: 0, limit: 3, at: start) == [])
    }

    @Test("a gap, too many rows and too long a time complete nothing")
    func incomplete() {
        var sweep = CatalogueSweep()
        #expect(sweep.take([5], offset: 3, limit: 3, at: start) == nil, "no beginning")
        _ = sweep.take([1, 2, 3], offset: 0, limit: 3, at: start)
        #expect(sweep.take([5], offset: 4, limit: 3, at: start) == nil)
        #expect(sweep.take([4, 5], offset: 3, limit: 1, at: start) == nil)
        let late = start.addingTimeInterval(CatalogueSweep.maximumDuration + 1)
        #expect(sweep.take([4], offset: 3, limit: 3, at: late) == nil)
        #expect(sweep.take([4], offset: 3, limit: 3, at: start) == [1, 2, 3, 4])
    }
}
