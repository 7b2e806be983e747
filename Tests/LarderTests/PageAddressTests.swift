import Certificates
import Foundation
import TestKit
import Testing

@testable import Larder

@Suite struct PageAddressTests {
    @Test(
        "SRV-14 the address of the pages has a name of the certificate",
        arguments: [
            (["larder.localhost", "localhost"], "larder.localhost"), (["127.0.0.1", "localhost"], "localhost"),
            (["larder.lan", "192.168.1.5"], "larder.lan"), (["::1"], "[::1]"),
        ] as [([String], String)]
    )
    func certified(_ names: [String], _ host: String) throws {
        let authority = try TestAuthority(names: names)
        let reader = try SettingsReader(arguments: authority.settings, environment: [:], file: nil)
        let http = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"]).http
        let files = try #require(http.certificate)
        let served = try ServerCertificate(files, protocols: [], now: Date()).names
        #expect(PageAddress.url(of: http, served, port: 8443) == "https://\(host):8443/")
    }
}
