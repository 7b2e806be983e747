import TestKit
import Testing

@testable import Upstream

struct OutboxOrderTests {
    /// A place in a tree of numbers.
    struct Place: OutboxPlace {
        let names: [Int]

        var above: [Place] { (1..<max(names.count, 1)).map { Place(names: Array(names.prefix($0))) } }
    }

    private struct Operation {
        var places: [Place]
        var isStuck: Bool
    }

    private static func touch(_ one: [Place], _ other: [Place]) -> Bool {
        one.contains { one in
            other.contains { one.names.starts(with: $0.names) || $0.names.starts(with: one.names) }
        }
    }

    /// Returns the operations that may run, one after the other: the model.
    private static func ready(_ operations: [Int64: Operation]) -> [Int64] {
        var held: [Operation] = []
        return operations.sorted { $0.key < $1.key }.compactMap { number, operation in
            guard operation.isStuck || held.contains(where: { touch($0.places, operation.places) }) else {
                return number
            }
            held.append(operation)
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
            let number = Int64.random(in: 1..<20, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                operations[number] = nil
                order.remove(number)
            } else {
                var operation = operations[number] ?? Operation(places: [Self.place(&random)], isStuck: false)
                operation.isStuck = Bool.random(using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 { operation.places.append(Self.place(&random)) }
                operations[number] = operation
                order.put(number, operation.places, isStuck: operation.isStuck)
            }
            #expect(order.ready.elements.elementsEqual(Self.ready(operations)))
            #expect(Array(order.first) == Array(Self.ready(operations).prefix(2)))
            let places = [Self.place(&random)]
            let touching = operations.filter { Self.touch($0.value.places, places) }.keys.sorted()
            #expect(order.touching(places) == touching && order.isTouched(places) == !touching.isEmpty)
        }
    }

    @Test("OUT-11 an operation that ends, or waits for a decision, is as much work among 10,000 as among 100")
    func work() {
        func steps(_ count: Int64) -> [Int] {
            var order = OutboxOrder<Place>()
            for number in 1...count { order.put(number, [Place(names: [0, Int(number)])], isStuck: false) }
            var steps = [order.steps]
            order.put(5, [Place(names: [0, 5])], isStuck: true)
            steps.append(order.steps)
            order.put(count + 1, [Place(names: [0, 5, 1])], isStuck: false)
            #expect(order.ready.elements.last == count)
            order.put(5, [Place(names: [0, 5])], isStuck: false)
            #expect(order.ready.elements.last == count + 1)
            order.remove(1)
            return steps + [order.steps]
        }
        #expect(steps(100) == steps(10_000))
    }
}
