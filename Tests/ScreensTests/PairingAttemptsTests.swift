import Foundation
import Testing

@testable import Screens

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
