import Testing

@testable import Screens

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
