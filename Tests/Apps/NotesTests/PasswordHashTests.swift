import Foundation
import Testing

@testable import Notes

@Suite("Hashes of passwords")
struct PasswordHashTests {
    @Test("NOTE-01 Scrypt is that of RFC 7914 §12")
    func vector() throws {
        let hash = try PasswordHash(
            of: try Password("pleaseletmein"),
            cost: .init(rounds: 16_384, blockSize: 8, parallelism: 1),
            salt: Data("SodiumChloride".utf8)
        )
        let hex = hash.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
        #expect(try hash.matches(try Password("pleaseletmein")))
        #expect(try !hash.matches(try Password("pleaseletmeiN")))
    }

    @Test("NOTE-01 The default cost is the one that is documented: 32 MiB, three runs")
    func standard() {
        let cost = PasswordHash.Cost.scrypt(logarithm: NotesApp.Options().scryptLogarithm)
        #expect(128 * cost.blockSize * cost.rounds == 32 << 20 && cost.parallelism == 3)
    }
}
