import Testing

@testable import Notes

@Suite("Turns of addresses")
struct AddressTurnsTests {
    @Test("TRUST-21 Addresses take turns, however many elements one of them has")
    func turns() {
        var turns = AddressTurns<Int>(maximum: 100, maximumPerAddress: 50)
        for number in 0..<50 { #expect(turns.append(number, from: "storm") == true) }
        #expect(turns.append(100, from: "honest") == true)
        #expect(turns.append(101, from: nil) == true)
        let order = (0..<53).map { _ in turns.next() }
        #expect(order == [0, 100, 101] + (1..<50).map { $0 } + [nil])
    }

    @Test("TRUST-21 A full queue of one address refuses that address only; a full queue refuses all")
    func limits() {
        var turns = AddressTurns<Int>(maximum: 5, maximumPerAddress: 3)
        for number in 0..<3 { #expect(turns.append(number, from: "a") == true) }
        #expect(turns.append(3, from: "a") == false)
        #expect(turns.append(4, from: "b") == true)
        #expect(turns.append(5, from: "b") == true)
        #expect(turns.append(6, from: "c") == false)
        _ = turns.next()
        #expect(turns.append(7, from: "c") == true)
    }
}
