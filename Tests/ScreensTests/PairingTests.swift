import Foundation
import HTTPTypes
import TestKit
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

struct PairingAttemptsTests {
    @Test("SRV-17 an address has ten wrong codes in ten minutes, and takes none from others")
    func address() {
        var attempts = PairingAttempts()
        for number in 0..<PairingAttempts.perAddress {
            #expect(attempts.wait(of: "a", at: ten) == nil, "\(number)")
            attempts.noteWrong(of: "a", at: ten)
        }
        #expect(attempts.wait(of: "a", at: ten) == 600)
        #expect(attempts.wait(of: "a", at: ten + 599.5) == 1)
        #expect(attempts.wait(of: "b", at: ten) == nil)
        #expect(attempts.wait(of: nil, at: ten) == nil)
        #expect(attempts.wait(of: "a", at: ten + 600) == nil)
        attempts.noteWrong(of: "a", at: ten + 600)
        #expect(attempts.wait(of: "a", at: ten + 600) == nil, "a window of its own")
    }

    @Test("a clock that is set back locks out no session")
    func clock() {
        var attempts = PairingAttempts()
        for _ in 0..<PairingAttempts.perAddress { attempts.noteWrong(of: "a", at: ten) }
        #expect(attempts.wait(of: "a", at: ten - 3600) == nil)
    }

    @Test("the right code forgives an address its wrong ones")
    func forgiven() {
        var attempts = PairingAttempts()
        for _ in 0..<PairingAttempts.perAddress { attempts.noteWrong(of: "a", at: ten) }
        attempts.forget("a")
        #expect(attempts.wait(of: "a", at: ten) == nil)
    }

    @Test("SRV-17 a flood from many addresses takes bounded memory, and no attempts of those that are remembered")
    func flood() {
        var attempts = PairingAttempts()
        attempts.noteWrong(of: "phone", at: ten)
        for number in 0..<20_000 where attempts.wait(of: "x\(number)", at: ten) == nil {
            attempts.noteWrong(of: "x\(number)", at: ten)
        }
        #expect(attempts.count == PairingAttempts.addresses)
        #expect(attempts.wait(of: "new", at: ten) == 600, "those that are not remembered share their attempts")
        #expect(attempts.wait(of: "phone", at: ten) == nil)
        #expect(attempts.wait(of: "new", at: ten + 600) == nil)
        attempts.noteWrong(of: "new", at: ten + 600)
        #expect(attempts.count == 1, "those whose window is over are forgotten")
    }

    @Test("SRV-17 after a flood, new addresses wait no longer than until one of those that are remembered is forgotten")
    func room() {
        var attempts = PairingAttempts()
        for number in 0..<PairingAttempts.addresses { attempts.noteWrong(of: "x\(number)", at: ten) }
        for number in 0..<PairingAttempts.ofOthers { attempts.noteWrong(of: "y\(number)", at: ten + 500) }
        #expect(attempts.wait(of: "new", at: ten + 599) != nil)
        #expect(attempts.wait(of: "new", at: ten + 600) == nil, "the window of the others goes on until 1100")
        #expect(attempts.wait(of: nil, at: ten + 600) == 500)
        attempts.noteWrong(of: "new", at: ten + 600)
        #expect(attempts.count == 1 && attempts.wait(of: "other", at: ten + 600) == nil)
    }
}

struct PairingCodeTests {
    @Test("SRV-17 a code is eight characters that look like no other, and no two are the same")
    func made() throws {
        let codes = (0..<200).map { _ in PairingCode.make() }
        #expect(Set(codes.map(\.text)).count == 200)
        for code in codes {
            #expect(code.text.wholeMatch(of: /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/) != nil, "\(code.text)")
            #expect(PairingCode(code.text) == code)
        }
        // Each of 1,600 characters is one of 32: that one of them is never drawn has a probability below 10⁻²⁰.
        #expect(Set(codes.joined(by: \.text)).count == 33)
    }

    @Test(
        "SRV-17 a code is read as people type it",
        arguments: ["0123-ABCD", "0123abcd", " o l 2 3 - a b c d ", "Oi23-ABCD", "0-1-2-3-A-B-C-D"]
    )
    func typed(text: String) throws {
        #expect(try #require(PairingCode(text)).text == "0123-ABCD")
        #expect(PairingCode(text)?.hash == PairingCode("0123-ABCD")?.hash)
        #expect(PairingCode("0123-ABCE")?.hash != PairingCode("0123-ABCD")?.hash)
    }

    @Test(
        "what cannot be a code is none",
        arguments: [
            "", "0123-ABC", "0123-ABCDE", "U123-ABCD", "0123_ABCD", "0123-ABCé", String(repeating: "-", count: 99),
        ]
    )
    func unlike(text: String) {
        #expect(PairingCode(text) == nil)
    }
}

extension [PairingCode] {
    fileprivate func joined(by text: (PairingCode) -> String) -> String { map(text).joined() }
}

struct PairingCodeFileTests {
    @Test("SRV-17 a code that another program leaves is good once, and for ten minutes at most")
    func left() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/pairing.code")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try await harness.pair(code.text).status == .created)
        #expect(try await harness.pair(code.text).code() == "pairing-refused")
        #expect(harness.devices.all.map(\.profile) == ["anna"])
        let second = PairingCode.make()
        try file.leave(second, profile: "anna", until: .distantFuture)
        _ = try await harness.pair("0000-0000")
        harness.clock.advance(by: .seconds(600))
        #expect(try await harness.pair(second.text).text.contains("ten minutes"))
    }

    @Test("SRV-17 an address that has to wait makes the server read no file")
    func waiting() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        for _ in 0..<PairingAttempts.perAddress { _ = try await harness.pair("?") }
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        #expect(try await harness.pair(code.text).status == .tooManyRequests)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pairing.code"])
        let other = DeviceHarness.Visitor(peer: "192.168.1.8")
        #expect(try await harness.pair(code.text, as: other).status == .created)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("SRV-17 of many who try the code of a file at once exactly one is paired, and no attempt is lost")
    func race() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                let visitor = DeviceHarness.Visitor(peer: "192.168.2.\(number)")
                group.addTask { try await harness.pair(code.text, as: visitor).status.code }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [201: 1, 403: 15])
    }
}
