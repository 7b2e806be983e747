import Testing

@testable import Certificates

@Suite struct HostNameTests {
    @Test(
        "Names and addresses are taken, in lower case and in their shortest form",
        arguments: [
            ("Larder.Home.arpa", "larder.home.arpa"), ("localhost", "localhost"), ("*.home.arpa", "*.home.arpa"),
            ("192.168.1.5", "192.168.1.5"), ("FD00:0:0::1", "fd00::1"), ("xn--e1afmkfd.test", "xn--e1afmkfd.test"),
        ]
    )
    func taken(text: String, name: String) throws {
        #expect(try HostName(text).text == name)
    }

    @Test(
        "What is neither is refused",
        arguments: ["", "a b", "a..b", ".a", "a.", "-a", "a_b", "a*b", "*", "*.", "http://a", "a:80", "300.1.2.3", "1"]
    )
    func refused(text: String) {
        #expect(throws: CertificateError.unusableName(text)) { try HostName(text) }
    }

    @Test("This machine has names, and no address that is valid on one link only")
    func machine() {
        let names = HostName.ofThisMachine().map(\.text)
        #expect(names.contains("localhost") && names.contains("127.0.0.1") && names.contains("larder.localhost"))
        #expect(!names.contains { $0.hasPrefix("fe80:") } && Set(names).count == names.count)
    }
}
