import TestKit
import Testing

@testable import Upstream

struct OutboxOrderTests {
    /// A place in a tree of numbers.
    struct Place: OutboxPath {
        let names: [Int]

        var above: [Place] { (1..<max(names.count, 1)).map { Place(names: Array(names.prefix($0))) } }
    }

    private struct Operation {
        var places: [Place]
        var letsOthersPass = false
        var isRefused = false
    }

    private static func touch(_ one: [Place], _ other: [Place]) -> Bool {
        one.contains { one in
            other.contains { one.names.starts(with: $0.names) || $0.names.starts(with: one.names) }
        }
    }

    /// Returns the operations that nothing stops, one after the other: the model.
    private static func free(_ operations: [Int64: Operation], _ isSource: (Operation) -> Bool) -> [Int64] {
        var stopped: [Operation] = []
        return operations.sorted { $0.key < $1.key }.compactMap { number, operation in
            guard isSource(operation) || stopped.contains(where: { touch($0.places, operation.places) }) else {
                return number
            }
            stopped.append(operation)
            return nil
        }
    }

    private static func place(_ random: inout SeededRandom) -> Place {
        Place(names: (0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: 0..<3, using: &random) })
    }

    @Test("What needs a decision holds up what concerns it, and nothing else, in any sequence", arguments: 0..<200)
    func model(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var (order, operations) = (OutboxOrder<Place>(), [Int64: Operation]())
        for _ in 0..<60 {
            let before = Set(operations.keys).intersection(Self.free(operations) { $0.isRefused })
            var changed: [Int64] = []
            let number = Int64.random(in: 1..<20, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                operations[number] = nil
                changed = order.remove(number)
            } else {
                var operation = operations[number] ?? Operation(places: [Self.place(&random)])
                operation.letsOthersPass = Bool.random(using: &random)
                operation.isRefused = operation.letsOthersPass && Bool.random(using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 { operation.places.append(Self.place(&random)) }
                operations[number] = operation
                changed = order.put(
                    number,
                    operation.places,
                    letsOthersPass: operation.letsOthersPass,
                    isRefused: operation.isRefused
                )
            }
            let ready = Self.free(operations) { $0.letsOthersPass }
            #expect(order.ready.elements.elementsEqual(ready))
            #expect(Array(order.first) == Array(ready.prefix(2)))
            let effective = Set(Self.free(operations) { $0.isRefused })
            #expect(operations.keys.allSatisfy { order.isSuspended($0) != effective.contains($0) })
            let others = effective.symmetricDifference(before).intersection(operations.keys).subtracting([number])
            #expect(others.isSubset(of: changed), "each that has an effect now, or none any more, is told")
            let places = [Self.place(&random)]
            let touching = operations.filter { Self.touch($0.value.places, places) }.keys.sorted()
            #expect(order.touching(places) == touching && order.isTouched(places) == !touching.isEmpty)
        }
    }

    @Test("OUT-11 an operation that ends, or waits for a decision, is as much work among 10,000 as among 100")
    func work() {
        func steps(_ count: Int64) -> [Int] {
            var order = OutboxOrder<Place>()
            for number in 1...count { order.put(number, [Place(names: [0, Int(number)])], letsOthersPass: false) }
            var steps = [order.steps]
            order.put(5, [Place(names: [0, 5])], letsOthersPass: true)
            steps.append(order.steps)
            order.put(count + 1, [Place(names: [0, 5, 1])], letsOthersPass: false)
            #expect(order.ready.elements.last == count)
            order.put(5, [Place(names: [0, 5])], letsOthersPass: false)
            #expect(order.ready.elements.last == count + 1)
            order.remove(1)
            return steps + [order.steps]
        }
        #expect(steps(100) == steps(10_000))
    }
}

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
