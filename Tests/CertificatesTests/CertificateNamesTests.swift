import Testing

@testable import Certificates

@Suite struct CertificateNamesTests {
    private let names = CertificateNames(["larder.test", "*.home.arpa", "192.168.1.5", "fd00::1"])

    @Test("Hosts of a certificate", arguments: ["larder.test", "a.home.arpa", "192.168.1.5", "fd00::1"])
    func contained(_ host: String) {
        #expect(names.contains(host))
    }

    @Test(
        "A wildcard is for one label, and not for none",
        arguments: ["home.arpa", "a.b.home.arpa", "a.larder.test", "arpa", "", "192.168.1.6", "*.larder.test"]
    )
    func foreign(_ host: String) {
        #expect(!names.contains(host))
    }
}
