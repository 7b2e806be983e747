import QRCodes
import Screens
import Testing

@testable import Larder

struct FirstPairingTests {
    private let code = PairingCode.make()

    @Test("SRV-17 a terminal shows a QR code of the address with the code, and the line below it")
    func terminal() throws {
        let text = FirstPairing.text(code, at: "https://larder.test:8080", isTerminal: true)
        let picture = try #require(QRCode("https://larder.test:8080/pair#\(code.text)")).terminalText
        #expect(text.hasPrefix(picture + "pair a device at https://larder.test:8080/pair with the code \(code.text)"))
    }

    @Test("without a terminal, or an address that is known, there is a line only")
    func line() {
        let piped = FirstPairing.text(code, at: "https://larder.test:8080", isTerminal: false)
        let unknown = FirstPairing.text(code, at: nil, isTerminal: true)
        for text in [piped, unknown] {
            #expect(text.hasPrefix("pair a device at ") && text.split(separator: "\n").count == 1)
        }
        #expect(unknown.contains("http.allowed_hosts"))
    }
}
