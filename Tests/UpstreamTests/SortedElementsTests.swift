import TestKit
import Testing

@testable import Upstream

struct SortedElementsTests {
    @Test("Elements stay in order whatever is added and removed, each once", arguments: 0..<50)
    func order(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var (sorted, expected) = (SortedElements<Int>([3, 1, 2], by: <), Set([1, 2, 3]))
        for _ in 0..<300 {
            let element = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: remove(element)
            case 1: if let first = expected.min() { remove(first) }
            default:
                sorted.insert(element)
                expected.insert(element)
            }
            #expect(Array(sorted.elements) == expected.sorted())
        }

        func remove(_ element: Int) {
            sorted.remove(element)
            expected.remove(element)
        }
    }

    @Test("A queue that is emptied at its front while it grows at its end keeps no more than it has")
    func queue() {
        var sorted = SortedElements<Int>(Array(0..<100), by: <)
        for number in 0..<10_000 {
            sorted.insert(100 + number)
            sorted.remove(number)
            #expect(sorted.elements.count == 100 && sorted.elements.startIndex <= 101)
        }
    }
}
