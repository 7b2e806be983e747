import Foundation
import Testing

@testable import Screens

struct PairingLedgerTests {
    private static func offer(_ text: String, end: Date = ten + 600) -> PairingLedger.Offer {
        PairingLedger.Offer(codeHash: hash(text), profile: "anna", end: end)
    }

    private static func hash(_ text: String) -> Data { PairingCode(text)?.hash ?? Data() }

    private let right = "0123-ABCD"

    @Test("SRV-17 a code is good once")
    func once() {
        var ledger = PairingLedger()
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .wrong, "there is none")
        ledger.offer(Self.offer(right))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .right(Self.offer(right)))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .wrong)
    }

    @Test("SRV-17 a code is good for ten minutes, and a late one is said to be late")
    func late() {
        var ledger = PairingLedger()
        ledger.offer(Self.offer(right))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten + 600) == .late)
        #expect(ledger.use(Self.hash("9999-9999"), by: "a", at: ten + 600) == .wrong)
        #expect(ledger.use(Self.hash(right), by: "a", at: ten + 599) == .right(Self.offer(right)))
    }

    @Test("SRV-17 a new code replaces the one before")
    func replaced() {
        var ledger = PairingLedger()
        ledger.offer(Self.offer(right))
        ledger.offer(Self.offer("9999-9999"))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .wrong)
        #expect(ledger.use(Self.hash("9999-9999"), by: "a", at: ten) == .right(Self.offer("9999-9999")))
    }

    @Test("SRV-17 wrong codes stop their own address only, even at the right one, and spoil no code")
    func attempts() {
        var ledger = PairingLedger()
        ledger.offer(Self.offer(right))
        for _ in 0..<PairingAttempts.perAddress { #expect(ledger.use(nil, by: "a", at: ten) == .wrong) }
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .tooMany(seconds: 600))
        #expect(ledger.use(Self.hash(right), by: "b", at: ten) == .right(Self.offer(right)))
    }

    @Test("a code whose device could not be stored is good again, unless there is a newer one")
    func givenBack() {
        var ledger = PairingLedger()
        ledger.offer(Self.offer(right))
        _ = ledger.use(Self.hash(right), by: "a", at: ten)
        ledger.giveBack(Self.offer(right))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .right(Self.offer(right)))
        ledger.offer(Self.offer("9999-9999"))
        ledger.giveBack(Self.offer(right))
        #expect(ledger.use(Self.hash(right), by: "a", at: ten) == .wrong)
    }
}
