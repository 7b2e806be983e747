import Foundation
import TestKit
import Testing

@testable import Server

/// When the certificates of these tests are made.
private let now = Date(timeIntervalSince1970: 1_800_000_000)

@Suite struct ServerCertificateTests {
    /// A folder with an authority and a certificate for `larder.test`.
    private static func folder(in folder: TemporaryFolder, at now: Date = now) throws -> CertificateFolder {
        let made = CertificateFolder(folder.url)
        _ = try made.make(names: [HostName("larder.test")], renews: false, authorityName: "test", now: now)
        return made
    }

    @Test(
        "SRV-14 what is wrong with a certificate or its key is said in a sentence with the file",
        arguments: CertificateFault.all
    )
    func faults(_ fault: CertificateFault) throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        try fault.change(folder)
        let error = #expect(throws: CertificateError.self) {
            try ServerCertificate(folder.server, protocols: ["http/1.1"], now: fault.time)
        }
        let text = error?.description ?? ""
        #expect(text.contains(fault.sentence) && text.contains(folder.url.path), "\(text)")
    }

    @Test("A certificate that fits has its names, its end, and whether its key is everybody's")
    func fits() throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        let read = try ServerCertificate(folder.server, protocols: [], now: now)
        #expect(read.names.all == ["larder.test"] && !read.isKeyPublic)
        #expect(read.notAfter == now + 397 * 86_400)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.server.key.path)
        #expect(try ServerCertificate(folder.server, protocols: [], now: now).isKeyPublic)
    }

    @Test("SRV-14 a certificate that cannot be served when it is read again leaves the one before it")
    func reload() throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        let served = try ServedCertificate(folder.server, protocols: [], now: now)
        let names = [try HostName("other.test")]
        let renewed = try folder.make(names: names, renews: true, authorityName: "test", now: now + 86_400)
        #expect(!renewed.isAuthorityNew && served.current.names.contains("larder.test"))
        try served.reload(now: now + 86_400)
        #expect(served.current.names.all == ["other.test"])
        try Data().write(to: folder.server.key)
        #expect(throws: CertificateError.noPEM(folder.server.key, "private key")) { try served.reload(now: now) }
        #expect(served.current.names.all == ["other.test"])
    }
}

/// A change of a folder, and the sentence about its fault.
struct CertificateFault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sentence: String
    var time = now
    var change: @Sendable (CertificateFolder) throws -> Void = { _ in }

    private static func replace(_ file: URL, by text: String) throws { try Data(text.utf8).write(to: file) }

    static let all = [
        CertificateFault(testDescription: "no certificate", sentence: "/server.crt does not exist") {
            try FileManager.default.removeItem(at: $0.server.certificate)
        },
        CertificateFault(testDescription: "no key", sentence: "/server.key does not exist") {
            try FileManager.default.removeItem(at: $0.server.key)
        },
        CertificateFault(testDescription: "a folder", sentence: "/server.key is not a file") {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.createDirectory(at: $0.server.key, withIntermediateDirectories: false)
        },
        CertificateFault(testDescription: "no PEM", sentence: "/server.crt has no certificate in PEM form") {
            try replace($0.server.certificate, by: "\u{0}\u{1}")
        },
        CertificateFault(testDescription: "certificate as key", sentence: "/server.key has no private key in PEM form")
        {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.copyItem(at: $0.server.certificate, to: $0.server.key)
        },
        CertificateFault(testDescription: "damaged", sentence: "/server.crt has a certificate that cannot be used") {
            let text = try String(contentsOf: $0.server.certificate, encoding: .utf8)
            try replace($0.server.certificate, by: text.replacing("MII", with: "AAAA"))
        },
        CertificateFault(
            testDescription: "key with passphrase",
            sentence: "server.key needs a passphrase; store it without one"
        ) {
            let text = try String(contentsOf: $0.server.key, encoding: .utf8)
            try replace($0.server.key, by: text.replacing(" PRIVATE KEY", with: " ENCRYPTED PRIVATE KEY"))
        },
        CertificateFault(testDescription: "key of another", sentence: "/server.key is not that of the certificate in ")
        {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.copyItem(at: $0.authority.key, to: $0.server.key)
        },
        CertificateFault(
            testDescription: "wrong order",
            sentence: "/server.crt has to begin with the certificate of the server"
        ) {
            let texts = try [$0.authority, $0.server].map { try String(contentsOf: $0.certificate, encoding: .utf8) }
            try replace($0.server.certificate, by: texts.joined())
        },
        CertificateFault(
            testDescription: "expired",
            sentence: "/server.crt has expired on 2028-02-16",
            time: now + 398 * 86_400
        ),
        CertificateFault(
            testDescription: "not yet valid",
            sentence: "/server.crt is not valid before 2027-01-15 (UTC); is the clock right?",
            time: now - 86_400
        ),
        CertificateFault(testDescription: "no names", sentence: "/server.crt has no alternative names (SAN)") {
            folder in
            for (from, to) in [
                (folder.authority.certificate, folder.server.certificate), (folder.authority.key, folder.server.key),
            ] {
                try FileManager.default.removeItem(at: to)
                try FileManager.default.copyItem(at: from, to: to)
            }
        },
    ]
}

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
