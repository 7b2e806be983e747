import TestKit
import Testing

@testable import HTTPServer

struct ClientTurnsTests {
    @Test("TRUST-18 The only thing of a client is next but one, whatever another one has waiting")
    func turns() {
        var turns = ClientTurns<String, Int>()
        for number in 0..<1000 { turns.append(number, of: "busy") }
        turns.append(-1, of: "calm")
        #expect(turns.count(of: "busy") == 1000 && turns.count(of: "calm") == 1 && turns.count(of: "other") == 0)
        #expect((0..<4).map { _ in turns.popFirst() } == [0, -1, 1, 2])
        turns.append(-2, of: "calm")
        #expect((0..<3).map { _ in turns.popFirst() } == [3, -2, 4])
    }

    @Test("Everything comes out once, that of each client in its order")
    func everything() {
        var random = SeededRandom(seed: 18)
        var turns = ClientTurns<Int, (client: Int, number: Int)>()
        var taken: [Int: [Int]] = [:]
        for number in 0..<2000 {
            let client = Int.random(in: 0..<5, using: &random)
            turns.append((client, number), of: client)
            guard Bool.random(using: &random), let next = turns.popFirst() else { continue }
            taken[next.client, default: []].append(next.number)
        }
        while let next = turns.popFirst() { taken[next.client, default: []].append(next.number) }
        #expect(turns.isEmpty && turns.popFirst() == nil)
        #expect(taken.values.reduce(0) { $0 + $1.count } == 2000)
        for numbers in taken.values { #expect(numbers == numbers.sorted()) }
    }
}
